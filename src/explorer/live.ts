import { batch, signal } from '@preact/signals'
import { openStream } from '../client/stream.ts'
import {
  document as milestonesDocument,
  type NewMilestonesData,
} from '../generated/explorer/new-milestones.ts'
import { endpoint } from './graphql.ts'
import { askForFrame, frame, type Tip } from './network.ts'

/**
 * Follows the milestones for as long as the explorer is open and seen: the one subscription of every page. After a break it
 * resumes after the last milestone, so that none is missing and none comes twice.
 */

/** How the page stands to the ledger. */
export type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'catching-up'; readonly slots: number }
  | { readonly state: 'reconnecting'; readonly sinceMs: number }
  | { readonly state: 'asleep' }

export const link = signal<Link>({ state: 'connecting' })

/** The newest milestones, the newest first. */
export const milestones = signal<readonly Tip[]>([])

/** Counts how often everything on a page may be out of date at once: after a break that was too long to replay. */
export const generation = signal(0)

/** When the newest milestone came. */
let heardMs = Date.now()

/** The newest milestone that there may be by now: the one that came last, and one more for each slot that passed since. */
let expectedIndex = 0

/** How many milestones are kept for the strip. */
const keptMilestones = 120

/** A longer break is not replayed: what is shown is asked for again. */
const mostReplayed = 200

/** A connection that says nothing for so long is closed; the gateway sends every milestone. */
const silenceMs = 45_000

/** A tab that is not seen for so long gives its connection back: browsers have six for one host. */
const sleepAfterMs = 10_000

/** Begins after the newest milestone of the frame. */
export function startLive(): void {
  show()
  void followForEver()
}

async function followForEver(): Promise<never> {
  let pauseMs = 250
  for (;;) {
    await seen()
    const startedMs = Date.now()
    const isRefused = await followOnce()
    if (document.hidden) continue
    const current = link.peek()
    if (current.state !== 'reconnecting')
      link.value = { state: 'reconnecting', sinceMs: Date.now() }
    pauseMs = Date.now() - startedMs > 5_000 ? 250 : Math.min(2 * pauseMs, 4_000)
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)))
    if (isRefused && (await askForFrame())) startAgain()
  }
}

/** One connection; whether the ledger has not come to where the page is. */
async function followOnce(): Promise<boolean> {
  const connection = createConnection()
  const after = milestones.peek()[0]?.index
  expectedIndex = (after ?? 0) + slotsSince(heardMs)
  try {
    const opened = await openStream({
      url: endpoint.href,
      body: JSON.stringify({ query: milestonesDocument.text, variables: { after } }),
      headers: {},
      signal: connection.signal,
    })
    if (!opened.isOpen) return false
    if (slotsSince(heardMs) > mostReplayed && (await askForFrame())) {
      startAgain()
      return false
    }
    connection.heard()
    link.value = { state: 'live' }
    for await (const text of opened.events) {
      connection.heard()
      const { data, errors = [] }: FeedResult = JSON.parse(text)
      // The database was replaced by one that has not come as far; another refusal may pass.
      if (errors.length > 0) return errors[0]?.extensions?.code === 'MILESTONE_NOT_COMMITTED'
      if (data != null) take(data.milestone)
    }
  } catch {
    // The connection broke, or was closed for its silence: the next one resumes.
  } finally {
    connection.close()
  }
  return false
}

interface FeedResult {
  readonly data?: NewMilestonesData | null
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[]
}

function take(next: Tip): void {
  const known = milestones.peek()
  const newest = known[0]?.index ?? 0
  // A milestone in between would have been skipped: everything is asked for again.
  if (next.index > newest + 1) return void askForFrame().then((isThere) => isThere && startAgain())
  if (next.index <= newest) return
  batch(() => {
    milestones.value = [next, ...known].slice(0, keptMilestones)
    heardMs = Date.now()
    const slots = expectedIndex - next.index
    link.value = slots > 2 ? { state: 'catching-up', slots } : { state: 'live' }
  })
}

/** What is shown begins again at what the frame has now. */
function startAgain(): void {
  batch(() => {
    show()
    generation.value = generation.peek() + 1
  })
}

/** Shows the milestones of the frame. */
function show(): void {
  milestones.value = frame.peek()?.strip?.nodes ?? []
  heardMs = Date.now()
}

/** By the length of a slot alone, for the clock of the reader may be wrong. */
function slotsSince(ms: number): number {
  const seconds = frame.peek()?.network.parameters.slotDurationInSeconds ?? 1
  return Math.floor((Date.now() - ms) / 1000 / seconds)
}

/** Waits until the tab is seen. */
async function seen(): Promise<void> {
  if (!document.hidden) return
  link.value = { state: 'asleep' }
  await new Promise<void>((resolve) => {
    const look = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
  })
}

/** Closes a connection that is silent, and that of a tab that is not seen. */
function createConnection() {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let silence = setTimeout(abort, silenceMs)
  let sleep: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(sleep)
    if (document.hidden) sleep = setTimeout(abort, sleepAfterMs)
  }
  document.addEventListener('visibilitychange', look)
  return {
    signal: controller.signal,
    heard: () => {
      clearTimeout(silence)
      silence = setTimeout(abort, silenceMs)
    },
    close: () => {
      clearTimeout(silence)
      clearTimeout(sleep)
      document.removeEventListener('visibilitychange', look)
      abort()
    },
  }
}
