import { batch, signal } from '@preact/signals'
import { openStream } from '../client/stream.ts'
import {
  document as milestonesDocument,
  type NewMilestonesData,
} from '../generated/explorer/new-milestones.ts'
import { endpoint } from './graphql.ts'
import { received } from './milestones.ts'
import { fetchFrame, frame, gatewayTimeMs, type Tip } from './network.ts'

/**
 * Follows the milestones while the explorer is open and visible: the only subscription of every page. After an interruption it
 * resumes after the last milestone, so that no milestone is missing or repeated.
 */

/** The state of the connection. */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'catching-up'; readonly slots: number }
  /** Since a time of the gateway's clock, in milliseconds. */
  | { readonly state: 'reconnecting'; readonly sinceMs: number }
  | { readonly state: 'asleep' }

export const link = signal<Link>({ state: 'connecting' })

/** Time at which the newest milestone arrived, in milliseconds. */
let arrivedMs = Date.now()

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

/** Starts to follow after the newest milestone of the frame. */
export function startLive(): void {
  show()
  void followAlways()
}

async function followAlways(): Promise<never> {
  let pauseMs = 250
  for (;;) {
    await untilVisible()
    const startedMs = Date.now()
    const { isRefused = false, retryAfterMs } = await followOnce()
    if (document.hidden) continue
    const current = link.peek()
    if (current.state !== 'reconnecting')
      link.value = { state: 'reconnecting', sinceMs: gatewayTimeMs() }
    pauseMs = Date.now() - startedMs > 5_000 ? 250 : Math.min(2 * pauseMs, 4_000)
    const ms = Math.max(pauseMs * (0.5 + Math.random() / 2), pauseOf(retryAfterMs))
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (isRefused && (await fetchFrame())) startAgain()
  }
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
      onBytes: connection.restartTimeout,
    })
    if (!opened.isOpen) return opened
    if (slotsSince(arrivedMs) > maxReplayedSlots && (await fetchFrame())) {
      startAgain()
      return {}
    }
    connection.restartTimeout()
    link.value = { state: 'live' }
    for await (const text of opened.events) {
      const { data, errors = [] }: FeedResult = JSON.parse(text)
      // This code means that the database was replaced by an older one. Other errors may be temporary.
      const [error] = errors
      if (error !== undefined) {
        return { isRefused: error.extensions?.code === 'MILESTONE_NOT_COMMITTED' }
      }
      if (data != null) addMilestone(data.milestone)
    }
  } catch {
    // The connection broke or timed out: the next connection resumes.
  } finally {
    connection.close()
  }
  return {}
}

interface FeedResult {
  readonly data?: NewMilestonesData | null
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[]
}

function addMilestone(next: Tip): void {
  const { milestones: known, generation } = received.peek()
  const newest = known[0]?.index ?? 0
  // If a milestone was skipped, everything is requested again.
  if (next.index > newest + 1) return void fetchFrame().then((isLoaded) => isLoaded && startAgain())
  if (next.index <= newest) return
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
  received.value = { generation, milestones: frame.peek()?.strip?.nodes ?? [] }
  arrivedMs = Date.now()
}

/** Number of slots since a time. Only the slot duration is used, because the clock of the browser may be wrong. */
function slotsSince(ms: number): number {
  const seconds = frame.peek()?.network.parameters.slotDurationInSeconds ?? 1
  return Math.floor((Date.now() - ms) / 1000 / seconds)
}

/** Waits until the tab is visible. */
async function untilVisible(): Promise<void> {
  if (!document.hidden) return
  link.value = { state: 'asleep' }
  await new Promise<void>((resolve) => {
    const onChange = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', onChange)
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
