import type { LogPosition } from '../store/rows.ts'
import type { FeedMessage } from './message.ts'
import type { UpdateFilter } from './read.ts'
import type { Tail } from './tail.ts'
import type { SharedText, Texts } from './texts.ts'

/** The live side of shared feeds: those who stand at one place of one stream are told with one execution. */

/** What the streams of one process have in common. */
export interface Shared {
  readonly tail: Tail
  readonly texts: Texts
  /** Something went wrong in one of many; all of them may say the same. */
  readonly complain: (failure: unknown) => void
  /** The most rows of one event. */
  readonly batchRows: number
  /** How long to wait when the database is away, in milliseconds. */
  readonly retryMs: number
}

/** Feeds that are told the same. */
export interface Stream {
  readonly key: string
  readonly filter: UpdateFilter
  readonly render: (told: FeedMessage) => Promise<SharedText>
  /** Of the history that it began with. */
  readonly era: number
  /** By position. All live feeds are in one of them. */
  readonly groups: Map<number, SubscriberGroup>
  /** Up to here every row was told to every cohort that stood before it. */
  seen: number
  /** Open feeds, live or not. */
  feeds: number
  advancing: boolean
  again: boolean
  stopWatching: (() => void) | undefined
}

/** Live feeds of a stream that stand at the same position. */
export interface SubscriberGroup {
  position: LogPosition
  /** When it was last told something, by the process's monotonic clock in milliseconds. */
  emittedAt: number
  /** The newest milestone that it was told of. */
  slot: number
  readonly subscribers: Set<LiveSubscriber>
}

/** A live feed. */
export interface LiveSubscriber {
  group: SubscriberGroup | undefined
  /** Whether it takes more now. */
  hasRoom(): boolean
  take(text: SharedText, message: FeedMessage): void
  /** It had no room: it goes on by itself from where it stands. */
  fallBehind(position: LogPosition): void
  /** The log is another one now. */
  reset(position: LogPosition): void
}

/** A stream without feeds. */
export function createStream(
  tail: Tail,
  { key, filter, era, render }: Pick<Stream, 'key' | 'filter' | 'era' | 'render'>,
): Stream {
  const { seq: seen } = tail.tip()
  return {
    key,
    filter,
    render,
    era,
    groups: new Map(),
    seen,
    feeds: 0,
    advancing: false,
    again: false,
    stopWatching: undefined,
  }
}

/**
 * Makes a feed live. The caller has just found, without a pause since, that no row of the filter lies between its
 * position and the tip.
 */
export function joinLive(
  shared: Shared,
  stream: Stream,
  member: LiveSubscriber,
  position: LogPosition,
): void {
  // Nobody was live, so nobody has missed anything.
  if (stream.groups.size === 0) stream.seen = shared.tail.tip().seq
  stream.stopWatching ??= shared.tail.watch(stream.filter, () => void advance(shared, stream))
  let cohort = stream.groups.get(position.seq)
  if (cohort === undefined) {
    const { slot } = shared.tail.tip()
    cohort = { position, emittedAt: performance.now(), slot, subscribers: new Set() }
    stream.groups.set(position.seq, cohort)
  }
  cohort.subscribers.add(member)
  member.group = cohort
}

/** Takes a feed out of its cohort. */
export function leaveLive(stream: Stream, member: LiveSubscriber): void {
  const { group } = member
  member.group = undefined
  group?.subscribers.delete(member)
  if (group?.subscribers.size === 0) remove(stream, group)
}

function remove(stream: Stream, cohort: SubscriberGroup): void {
  const { seq } = cohort.position
  if (stream.groups.get(seq) === cohort) stream.groups.delete(seq)
  if (stream.groups.size > 0) return
  stream.stopWatching?.()
  stream.stopWatching = undefined
}

/** The text of something told, made once for all who are told it. */
export function textOf({ texts }: Shared, stream: Stream, told: FeedMessage): Promise<SharedText> {
  // Who is alone shares with nobody, and his events need not be kept.
  if (stream.feeds < 2) return stream.render(told)
  return texts.forceFetch(`${toldKey(told)} ${stream.key}`, { context: () => stream.render(told) })
}

function toldKey(told: FeedMessage): string {
  switch (told.kind) {
    case 'opened':
      return `o ${told.position.seq} ${told.tip.seq} ${told.tip.prunedSeq}`
    case 'updates':
      return `u ${told.after.seq} ${told.position.seq}`
    case 'progress':
      return `p ${told.after.seq} ${told.position.seq} ${told.slot} ${told.isLive}`
    case 'snapshot':
      return `s ${told.position.seq} ${told.outputIds[0]} ${told.outputIds.length}`
    case 'notice':
      return `n ${told.position.seq} ${JSON.stringify(told.notice)}`
    case 'reset':
      return `r ${told.position.seq} ${told.reason} ${told.tip.era} ${told.tip.seq}`
  }
}

/**
 * Tells the live feeds of a stream what has been committed, and those that were told nothing since `quietSince` how far
 * they are covered. Calls while it works are one more round.
 */
export async function advance(shared: Shared, stream: Stream, quietSince = 0): Promise<void> {
  stream.again = true
  if (stream.advancing) return
  stream.advancing = true
  try {
    while (stream.again) {
      stream.again = false
      await advanceOnce(shared, stream, quietSince)
    }
  } catch (failure) {
    shared.complain(failure)
    setTimeout(() => void advance(shared, stream), shared.retryMs).unref()
  } finally {
    stream.advancing = false
  }
}

async function advanceOnce(shared: Shared, stream: Stream, quietSince: number): Promise<void> {
  const tip = shared.tail.tip()
  if (tip.era !== stream.era) return resetAll(stream)
  for (const cohort of [...stream.groups.values()]) {
    await tellUpdates(shared, stream, cohort, tip.seq)
    if (shared.tail.tip().era !== stream.era) return resetAll(stream)
    if (cohort.emittedAt <= quietSince && tip.slot > cohort.slot) {
      const { position: after } = cohort
      const position = after.seq < tip.seq ? { seq: tip.seq, branch: tip.branch } : after
      const told = { kind: 'progress', after, position, slot: tip.slot, isLive: true } as const
      await tellCohort(shared, stream, cohort, told)
    }
  }
  stream.seen = tip.seq
}

async function tellUpdates(
  shared: Shared,
  stream: Stream,
  cohort: SubscriberGroup,
  upTo: number,
): Promise<void> {
  const { tail, batchRows: limit } = shared
  const { filter } = stream
  let checked = Math.max(cohort.position.seq, stream.seen)
  while (checked < upTo && cohort.subscribers.size > 0) {
    const question = { filter, after: checked, limit }
    const page = tail.peek(question) ?? (await tail.read(question))
    // Pruned or replaced below the feet of a live stream: each feed finds out by itself how to go on.
    if (page === 'PRUNED' || page === 'REPLACED') return dismiss(stream, cohort)
    if (tail.tip().era !== stream.era) return
    checked = page.position.seq
    if (page.rows.length === 0) continue
    const { position: after } = cohort
    const { rows, position } = page
    await tellCohort(shared, stream, cohort, { kind: 'updates', after, position, rows })
  }
}

/** Tells a cohort, which then stands at the new position; those without room stay behind. */
async function tellCohort(
  shared: Shared,
  stream: Stream,
  cohort: SubscriberGroup,
  told: Extract<FeedMessage, { readonly kind: 'updates' | 'progress' }>,
): Promise<void> {
  const text = await textOf(shared, stream, told)
  const { position: former } = cohort
  const behind: LiveSubscriber[] = []
  for (const member of cohort.subscribers) {
    if (member.hasRoom()) member.take(text, told)
    else behind.push(member)
  }
  for (const member of behind) {
    leaveLive(stream, member)
    member.fallBehind(former)
  }
  if (cohort.subscribers.size === 0) return
  cohort.emittedAt = performance.now()
  cohort.slot = shared.tail.tip().slot
  moveCohort(stream, cohort, told.position)
}

function moveCohort(stream: Stream, cohort: SubscriberGroup, position: LogPosition): void {
  if (position.seq === cohort.position.seq) return
  stream.groups.delete(cohort.position.seq)
  cohort.position = position
  const other = stream.groups.get(position.seq)
  if (other === undefined) {
    stream.groups.set(position.seq, cohort)
    return
  }
  for (const member of other.subscribers) {
    member.group = cohort
    cohort.subscribers.add(member)
  }
  // Whoever holds the other one still must find nobody in it.
  other.subscribers.clear()
  stream.groups.set(position.seq, cohort)
}

function dismiss(stream: Stream, cohort: SubscriberGroup): void {
  const { position } = cohort
  for (const member of [...cohort.subscribers]) {
    leaveLive(stream, member)
    member.fallBehind(position)
  }
}

function resetAll(stream: Stream): void {
  for (const cohort of [...stream.groups.values()]) {
    const { position } = cohort
    for (const member of [...cohort.subscribers]) {
      leaveLive(stream, member)
      member.reset(position)
    }
  }
}
