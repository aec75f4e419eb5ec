import type { LogPosition } from '../store/rows.ts'
import type { CommitMarks } from './commit-marks.ts'
import type { FeedMessage, SnapshotMessage } from './message.ts'
import type { UpdateFilter } from './read.ts'
import type { Tail } from './tail.ts'
import type { SharedText, Texts } from './texts.ts'

/** Live feeds: one execution of an event serves all subscribers of a group. */

export interface Shared {
  readonly tail: Tail
  readonly texts: Texts
  readonly commits: Pick<CommitMarks, 'deliver'>
  /** Called with the failure of a subscriber. Many subscribers may report the same failure. */
  readonly onFailure: (failure: unknown) => void
  /** Maximum number of rows of one event. */
  readonly batchRows: number
  /** Milliseconds without an event after which a feed gets a progress message. */
  readonly progressMs: number
  /** Milliseconds until the next attempt after a failed read. */
  readonly retryMs: number
}

/** The feeds of equal requests. */
export interface Stream {
  readonly key: string
  readonly filter: UpdateFilter
  readonly render: (message: FeedMessage) => Promise<SharedText>
  /** The era of the tail when the stream began. */
  readonly era: number
  /** The groups by position; every live feed belongs to one of them. */
  readonly groups: Map<number, SubscriberGroup>
  /** Every group has received the rows up to this position. */
  deliveredSeq: number
  /** Number of open feeds, live or not. */
  feeds: number
  isAdvancing: boolean
  /** Whether `advance` was called since the last round began. */
  isAdvanceRequested: boolean
  stopWatching: (() => void) | undefined
}

/** Live feeds of a stream that have reached the same position. */
export interface SubscriberGroup {
  position: LogPosition
  /** Time of the last event, in milliseconds of the process's monotonic clock. */
  emittedAt: number
  /** The newest milestone that the events of the group cover. */
  slot: number
  readonly subscribers: Set<LiveSubscriber>
}

export interface LiveSubscriber {
  group: SubscriberGroup | undefined
  /** Whether the feed accepts another event now. */
  hasRoom(): boolean
  take(text: SharedText, message: FeedMessage): void
  /** Called when the feed has no room: it leaves the group and reads by itself from its position. */
  fallBehind(position: LogPosition): void
  /** Called when the log was replaced. */
  reset(position: LogPosition): void
}

export function createStream(
  tail: Tail,
  { key, filter, era, render }: Pick<Stream, 'key' | 'filter' | 'era' | 'render'>,
): Stream {
  const { seq: deliveredSeq } = tail.tip()
  return {
    key,
    filter,
    render,
    era,
    groups: new Map(),
    deliveredSeq,
    feeds: 0,
    isAdvancing: false,
    isAdvanceRequested: false,
    stopWatching: undefined,
  }
}

/**
 * Makes a feed live. The caller has checked that no row of the filter lies between the position and the tip, and has not
 * awaited anything since.
 */
export function joinLive(
  shared: Shared,
  stream: Stream,
  subscriber: LiveSubscriber,
  position: LogPosition,
): void {
  // Without live feeds no group can have missed a row.
  if (stream.groups.size === 0) stream.deliveredSeq = shared.tail.tip().seq
  stream.stopWatching ??= shared.tail.watch(stream.filter, () => void advance(shared, stream))
  let group = stream.groups.get(position.seq)
  if (group === undefined) {
    const { slot } = shared.tail.tip()
    group = { position, emittedAt: performance.now(), slot, subscribers: new Set() }
    stream.groups.set(position.seq, group)
  }
  group.subscribers.add(subscriber)
  subscriber.group = group
}

/** Removes a feed from its group. */
export function leaveLive(stream: Stream, subscriber: LiveSubscriber): void {
  const { group } = subscriber
  subscriber.group = undefined
  group?.subscribers.delete(subscriber)
  if (group?.subscribers.size === 0) remove(stream, group)
}

function remove(stream: Stream, group: SubscriberGroup): void {
  const { seq } = group.position
  if (stream.groups.get(seq) === group) stream.groups.delete(seq)
  if (stream.groups.size > 0) return
  stream.stopWatching?.()
  stream.stopWatching = undefined
}

/** The text of a message, rendered once for all subscribers that receive it. Pieces of snapshots are not shared. */
export function textOf(
  { texts }: Shared,
  stream: Stream,
  message: FeedMessage,
): Promise<SharedText> {
  // A single feed shares its events with no other feed, so they are not cached. Each feed reads its own snapshot: pieces that begin
  // equally may differ, because outputs were spent between the two reads.
  if (stream.feeds < 2 || message.kind === 'snapshot') return stream.render(message)
  return texts.forceFetch(`${messageKey(message)} ${stream.key}`, {
    context: () => stream.render(message),
  })
}

function messageKey(message: Exclude<FeedMessage, SnapshotMessage>): string {
  switch (message.kind) {
    case 'opened':
      return `o ${message.position.seq} ${message.tip.seq} ${message.tip.slot} ${message.tip.prunedSeq}`
    case 'updates':
      return `u ${message.after.seq} ${message.position.seq}`
    case 'progress':
      return `p ${message.after.seq} ${message.position.seq} ${message.slot} ${message.isLive}`
    case 'notice':
      return `n ${message.position.seq} ${JSON.stringify(message.notice)}`
    case 'reset':
      return `r ${message.position.seq} ${message.reason} ${message.tip.era} ${message.tip.seq} ${message.tip.prunedSeq}`
  }
}

/**
 * Sends the new rows to the live feeds of a stream, and a progress message to each group without an event since `quietSince`.
 * A call during a run adds one more round to it.
 */
export async function advance(shared: Shared, stream: Stream, quietSince = 0): Promise<void> {
  stream.isAdvanceRequested = true
  if (stream.isAdvancing) return
  stream.isAdvancing = true
  try {
    while (stream.isAdvanceRequested) {
      stream.isAdvanceRequested = false
      await advanceOnce(shared, stream, quietSince)
    }
  } catch (failure) {
    shared.onFailure(failure)
    setTimeout(() => void advance(shared, stream), shared.retryMs).unref()
  } finally {
    stream.isAdvancing = false
  }
}

async function advanceOnce(shared: Shared, stream: Stream, quietSince: number): Promise<void> {
  const tip = shared.tail.tip()
  if (tip.era !== stream.era) return resetAll(stream)
  for (const group of [...stream.groups.values()]) {
    await sendUpdates(shared, stream, group, tip.seq)
    if (shared.tail.tip().era !== stream.era) return resetAll(stream)
    if (group.emittedAt <= quietSince && tip.slot > group.slot) {
      const { position: after } = group
      const position = after.seq < tip.seq ? { seq: tip.seq, branch: tip.branch } : after
      const message = { kind: 'progress', after, position, slot: tip.slot, isLive: true } as const
      await sendToGroup(shared, stream, group, message)
    }
  }
  stream.deliveredSeq = tip.seq
}

async function sendUpdates(
  shared: Shared,
  stream: Stream,
  group: SubscriberGroup,
  upTo: number,
): Promise<void> {
  const { tail, batchRows: limit } = shared
  const { filter } = stream
  let checked = Math.max(group.position.seq, stream.deliveredSeq)
  while (checked < upTo && group.subscribers.size > 0) {
    const query = { filter, after: checked, limit }
    const page = tail.peek(query) ?? (await tail.read(query))
    // The rows of a live stream were pruned or replaced: each feed reads by itself and ends with the fitting reset.
    if (page === 'PRUNED' || page === 'REPLACED') return dismiss(stream, group)
    if (tail.tip().era !== stream.era) return
    checked = page.position.seq
    if (page.rows.length === 0) continue
    const { position: after } = group
    const { rows, position } = page
    const message = { kind: 'updates', after, position, rows } as const
    const send = () => sendToGroup(shared, stream, group, message)
    await shared.commits.deliver(rows.at(-1)?.seq ?? 0, send)
  }
}

/** Sends a message to a group and moves it to the new position; subscribers without room leave it. */
async function sendToGroup(
  shared: Shared,
  stream: Stream,
  group: SubscriberGroup,
  message: Extract<FeedMessage, { readonly kind: 'updates' | 'progress' }>,
): Promise<void> {
  const text = await textOf(shared, stream, message)
  const { position: former } = group
  const withoutRoom: LiveSubscriber[] = []
  for (const subscriber of group.subscribers) {
    if (subscriber.hasRoom()) subscriber.take(text, message)
    else withoutRoom.push(subscriber)
  }
  for (const subscriber of withoutRoom) {
    leaveLive(stream, subscriber)
    subscriber.fallBehind(former)
  }
  if (group.subscribers.size === 0) return
  group.emittedAt = performance.now()
  group.slot = shared.tail.tip().slot
  moveGroup(stream, group, message.position)
}

function moveGroup(stream: Stream, group: SubscriberGroup, position: LogPosition): void {
  if (position.seq === group.position.seq) return
  stream.groups.delete(group.position.seq)
  group.position = position
  const other = stream.groups.get(position.seq)
  if (other === undefined) {
    stream.groups.set(position.seq, group)
    return
  }
  for (const subscriber of other.subscribers) {
    subscriber.group = group
    group.subscribers.add(subscriber)
  }
  // A caller that still holds the other group must find it empty.
  other.subscribers.clear()
  stream.groups.set(position.seq, group)
}

function dismiss(stream: Stream, group: SubscriberGroup): void {
  const { position } = group
  for (const subscriber of [...group.subscribers]) {
    leaveLive(stream, subscriber)
    subscriber.fallBehind(position)
  }
}

function resetAll(stream: Stream): void {
  for (const group of [...stream.groups.values()]) {
    const { position } = group
    for (const subscriber of [...group.subscribers]) {
      leaveLive(stream, subscriber)
      subscriber.reset(position)
    }
  }
}
