import { batch, signal } from '@preact/signals'
import { openStream } from '../client/stream.ts'
import {
  document as milestonesDocument,
  type NewMilestonesData,
} from '../generated/explorer/new-milestones.ts'
import { endpoint } from './graphql.ts'
import { received } from './milestones.ts'
import { fetchFrame, frame, gatewayTimeMs, requestFrame } from './network.ts'

/**
 * Follows the milestones while the explorer is open and visible: the only subscription of every page. After an interruption it
 * resumes after the last milestone, so that no milestone is missing or repeated. Where no stream arrives, it asks at intervals.
 */

/** The state of the connection. */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'catching-up'; readonly slots: number }
  /** Only queries are answered: a server in between holds the stream back or refuses it. */
  | { readonly state: 'asking' }
  /** Since a time of the gateway's clock, in milliseconds. */
  | { readonly state: 'reconnecting'; readonly sinceMs: number }
  | { readonly state: 'asleep' }

export const link = signal<Link>({ state: 'connecting' })

/** Time at which the newest milestone arrived, in milliseconds. */
let arrivedMs = Date.now()

/** Id of the commitment of the newest milestone, which the next one names. */
let newestCommitmentId: string | undefined

/** Index that the newest milestone may have by now: the last received index plus the number of slots since then. */
let expectedIndex = 0

/** Number of milestones that are kept for the strip. */
const maxMilestones = 120

/** Maximum length of an interruption that is replayed, in slots. After a longer one, the content is requested again. */
const maxReplayedSlots = 200

/** Milliseconds without a byte after which a connection is closed. The gateway sends every milestone, and comments between slow ones. */
const silenceMs = 45_000

/** Milliseconds after which the frame is requested again: the role and the clock of the gateway may have changed. */
const frameAgeMs = 60_000

/** Time at which the frame was last requested, in milliseconds. */
let framedMs = Date.now()

/** Milliseconds after which a hidden tab closes its connection, because browsers allow only six connections per host. */
const sleepAfterMs = 10_000

/** Milliseconds without a byte after which the page asks: more than between the comments of a gateway. */
const quietMs = 40_000

/** Milliseconds until the first question, and the maximum between questions. */
const firstAskMs = 5_000
const longestAskMs = 30_000

/** Time of `performance.now()` until which the stream may be silent. */
let silentUntilMs = 0

/** Number of questions that were answered since the stream is silent. */
let answers = 0

/** Starts to follow after the newest milestone of the frame. */
export function startLive(): void {
  show()
  expectBytes()
  void followAlways()
  void askWhileSilent()
}

/** Expects bytes of the stream from now on. */
function expectBytes(): void {
  silentUntilMs = performance.now() + quietMs
  answers = 0
}

async function followAlways(): Promise<never> {
  let pauseMs = 250
  for (;;) {
    await untilVisible()
    const startedMs = Date.now()
    const { isRefused = false, retryAfterMs } = await followOnce()
    if (document.hidden) continue
    const isAsking = link.peek().state === 'asking'
    if (!isAsking) showLoss()
    silentUntilMs = Math.min(silentUntilMs, performance.now())
    const longestMs = isAsking ? longestAskMs : 4_000
    pauseMs = Date.now() - startedMs > 5_000 ? 250 : Math.min(2 * pauseMs, longestMs)
    const ms = Math.max(pauseMs * (0.5 + Math.random() / 2), pauseOf(retryAfterMs))
    await wait(ms)
    if (isRefused && (await fetchFrame())) startAgain()
  }
}

function showLoss(): void {
  if (link.peek().state === 'reconnecting') return
  link.value = { state: 'reconnecting', sinceMs: gatewayTimeMs() }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Asks for the newest milestones while no stream arrives: some proxies hold event streams back or refuse them. The stream is tried
 * further, and ends the questions.
 */
async function askWhileSilent(): Promise<never> {
  let pauseMs = firstAskMs
  for (;;) {
    await wait(pauseMs)
    if (performance.now() < silentUntilMs) pauseMs = firstAskMs
    else if (!document.hidden) {
      const retryAfterMs = await ask()
      pauseMs = Math.max(Math.min(1.5 * pauseMs, longestAskMs), pauseOf(retryAfterMs))
    }
  }
}

/** Returns the `Retry-After` of a refusal, in milliseconds. */
async function ask(): Promise<number | undefined> {
  const answer = await requestFrame()
  if (performance.now() < silentUntilMs) return 0
  answers = answer.ok ? answers + 1 : 0
  if (!answer.ok) {
    showLoss()
    return answer.failure.retryAfterMs
  }
  // One answer is no sign of a proxy: a gateway that was away answers before its stream is open again.
  if (answers < 2) return 0
  const newest = received.peek().milestones[0]?.index ?? 0
  const answered = answer.data.strip?.nodes[0]?.index ?? 0
  if (answered < newest) startAgain()
  else show()
  link.value = { state: 'asking' }
  return 0
}

/** Milliseconds to wait for the `Retry-After` of a gateway: at most a minute, because a user waits for the page. */
export function pauseOf(retryAfterMs = 0): number {
  return Math.min(retryAfterMs, 60_000)
}

/** How a connection ended: whether the ledger has not reached the milestone of the page, and when to connect again. */
interface Ending {
  readonly isRefused?: boolean
  readonly retryAfterMs?: number
}

/** Follows over one connection. */
async function followOnce(): Promise<Ending> {
  const connection = createConnection()
  const after = received.peek().milestones[0]?.index
  expectedIndex = (after ?? 0) + slotsSince(arrivedMs)
  try {
    const opened = await openStream({
      url: endpoint.href,
      body: JSON.stringify({ query: milestonesDocument.text, variables: { after } }),
      headers: {},
      signal: connection.signal,
      onBytes: () => {
        expectBytes()
        connection.restartTimeout()
      },
    })
    if (!opened.isOpen) return opened
    if (slotsSince(arrivedMs) > maxReplayedSlots && (await fetchFrame())) {
      startAgain()
      return {}
    }
    connection.restartTimeout()
    // A proxy may send the head of the stream and hold its events back.
    if (link.peek().state !== 'asking') {
      expectBytes()
      link.value = { state: 'live' }
    }
    for await (const text of opened.events) {
      const { data, errors = [] }: FeedResult = JSON.parse(text)
      const [error] = errors
      if (error !== undefined) return { isRefused: replacedCodes.has(error.extensions?.code) }
      if (data != null) addMilestone(data.milestone)
    }
  } catch {
    // The connection broke or timed out: the next connection resumes.
  } finally {
    connection.close()
  }
  return {}
}

/** Codes of a database that was replaced by an older one, or by one that begins with a later snapshot. Others may be temporary. */
const replacedCodes: ReadonlySet<string | undefined> = new Set([
  'MILESTONE_NOT_COMMITTED',
  'UPDATES_NOT_KEPT',
])

interface FeedResult {
  readonly data?: NewMilestonesData | null
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[]
}

function addMilestone(milestone: NewMilestonesData['milestone']): void {
  const { commitmentId, commitment, ...next } = milestone
  const { milestones: known, generation } = received.peek()
  const newest = known[0]?.index ?? 0
  if (next.index <= newest) return
  // If a milestone was skipped, or follows another one because the ledger was replaced, everything is requested again.
  if (next.index > newest + 1 || commitment.previousCommitmentId !== newestCommitmentId)
    return void fetchFrame().then((isLoaded) => isLoaded && startAgain())
  newestCommitmentId = commitmentId
  batch(() => {
    received.value = { generation, milestones: [next, ...known].slice(0, maxMilestones) }
    arrivedMs = Date.now()
    const slots = expectedIndex - next.index
    link.value = slots > 2 ? { state: 'catching-up', slots } : { state: 'live' }
  })
  // The clock of the browser may also be set back.
  if (Math.abs(Date.now() - framedMs) < frameAgeMs) return
  framedMs = Date.now()
  void fetchFrame()
}

/** Replaces the milestones by those of the frame, and marks the content of the page as out of date. */
function startAgain(): void {
  show(received.peek().generation + 1)
}

/** Shows the milestones of the frame. */
function show(generation = received.peek().generation): void {
  const known = frame.peek()
  received.value = { generation, milestones: known?.strip?.nodes ?? [] }
  newestCommitmentId = known?.frame.newestMilestone.commitmentId
  arrivedMs = Date.now()
}

/** Number of slots since a time. Only the slot duration is used, because the clock of the browser may be wrong. */
function slotsSince(ms: number): number {
  return Math.floor((Date.now() - ms) / 1000 / slotSeconds())
}

function slotSeconds(): number {
  return frame.peek()?.network.parameters.slotDurationInSeconds ?? 1
}

/** Waits until the tab is visible. */
async function untilVisible(): Promise<void> {
  if (!document.hidden) return
  link.value = { state: 'asleep' }
  await new Promise<void>((resolve) => {
    const onChange = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', onChange)
      expectBytes()
      resolve()
    }
    document.addEventListener('visibilitychange', onChange)
  })
}

/** Aborts a connection that is silent, or whose tab is hidden. */
function createConnection() {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let silence = setTimeout(abort, silenceMs)
  let sleep: ReturnType<typeof setTimeout> | undefined
  const onChange = () => {
    clearTimeout(sleep)
    if (document.hidden) sleep = setTimeout(abort, sleepAfterMs)
  }
  document.addEventListener('visibilitychange', onChange)
  return {
    signal: controller.signal,
    restartTimeout: () => {
      clearTimeout(silence)
      silence = setTimeout(abort, silenceMs)
    },
    close: () => {
      clearTimeout(silence)
      clearTimeout(sleep)
      document.removeEventListener('visibilitychange', onChange)
      abort()
    },
  }
}
