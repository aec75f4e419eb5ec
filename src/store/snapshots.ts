import type { StoreReader, StoreSnapshot } from './contract.ts'
import { type Database, mostSnapshotMs } from './database.ts'
import { createKeptRows } from './kept-rows.ts'
import type { StoreLoad } from './load.ts'
import { createGathering, createSnapshotQueue } from './snapshot-queue.ts'
import { createSnapshotSession, type SnapshotSession } from './snapshot-session.ts'

/**
 * Snapshots of the database: what one query reads is of one moment. Where a change of the database shows at once, those
 * that begin between two changes share one, which is kept a little longer than it is used; where it does not, those that begin before
 * the first of them reads.
 */

/** Snapshots until they are closed. */
export interface Snapshots {
  begin(): Promise<StoreSnapshot>
  load(): StoreLoad['snapshots']
  close(): void
}

/** Nothing is connected before the first one begins. */
export function createSnapshots(
  database: Database,
  base: StoreReader,
  mostMs = mostSnapshotMs,
): Snapshots {
  const idle: SnapshotSession[] = []
  const kept = createKeptRows()
  /** Those that hold a snapshot or are about to. */
  const busy = new Set<SnapshotSession>()
  const queue = createSnapshotQueue(mostMs)
  const gathering = createGathering()

  /** One that began after the last change, and not so long ago that it is soon over; or whose moment is still to come. */
  function shareable(changes: number | undefined): SnapshotSession | undefined {
    if (changes === undefined) {
      // One without users is about to end.
      return [...busy].find(
        ({ connection, users, isOver }) =>
          !isOver && !connection.hasMoment() && users > 0 && users < mostSharing,
      )
    }
    const since = performance.now() - mostSharedMs
    return [...busy].find((one) => one.changes === changes && !one.isOver && one.begunMs > since)
  }

  function leave(session: SnapshotSession): void {
    busy.delete(session)
    gathering.end()
    queue.letIn()
  }

  async function begin(): Promise<StoreSnapshot> {
    let changes = database.changes()
    // Where only those that begin together can share a snapshot, they wait for each other: their statements go in common messages.
    if (changes === undefined && busy.size >= heldAtOnce) await gathering.gather()
    const shared = shareable(changes)
    if (shared !== undefined) return await use(shared)
    const left = [...busy].find(({ users, lingering }) => users === 0 && lingering !== undefined)
    if (left !== undefined) await finish(left)
    if (busy.size + queue.promised() >= database.mostSnapshots || queue.waiting() > 0) {
      await queue.turn()
      queue.arrive()
      // Read before it begins: it has at least these changes, and who shares it has seen no others.
      changes = database.changes()
    }
    const session = idle.pop() ?? createSnapshotSession(database, base, kept)
    busy.add(session)
    session.changes = changes
    session.begunMs = performance.now()
    session.begun = session.connection.begin()
    session.timer = setTimeout(() => expire(session), mostMs)
    session.timer.unref()
    return await use(session)
  }

  async function use(session: SnapshotSession): Promise<StoreSnapshot> {
    session.users++
    try {
      await session.begun
    } catch (failure) {
      await release(session)
      throw failure
    }
    // It was over before it began.
    if (session.isOver) session.connection.close()
    return { read: session.read, isStale: async () => false, end: () => void release(session) }
  }

  async function release(session: SnapshotSession): Promise<void> {
    session.users--
    if (session.users > 0 || session.isOver) return
    if (session.changes === undefined) return await finish(session)
    session.leftMs = performance.now()
    if (session.lingering === undefined) linger(session)
  }

  /** Keeps it for those who come soon. One timer for many of them, for it costs as much as a short read. */
  function linger(session: SnapshotSession): void {
    session.lingering = setTimeout(() => {
      session.lingering = undefined
      if (session.users > 0) return
      if (performance.now() - session.leftMs < mostLingerMs) linger(session)
      else void finish(session)
    }, mostLingerMs)
    session.lingering.unref()
  }

  async function finish(session: SnapshotSession): Promise<void> {
    clearTimeout(session.timer)
    clearTimeout(session.lingering)
    session.lingering = undefined
    session.changes = undefined
    session.answers.clear()
    // What was wrong with it is reported by who reads next.
    await session.connection.end().catch(() => session.connection.close())
    if (idle.length >= mostConnected) idle[idle.length - mostConnected]?.connection.close()
    idle.push(session)
    leave(session)
  }

  /** Its connection is not used again: later reads fail instead of reading another moment. */
  function expire(session: SnapshotSession): void {
    session.isOver = true
    session.connection.close()
    leave(session)
  }

  return {
    begin,
    load: () => ({
      held: [...busy].filter(({ users }) => users > 0).length,
      waiting: queue.waiting(),
    }),
    close: () => {
      for (const session of busy) {
        clearTimeout(session.timer)
        clearTimeout(session.lingering)
        session.isOver = true
      }
      for (const { connection } of [...busy, ...idle]) connection.close()
    },
  }
}

const mostSharedMs = 1_000

/** So many are held without waiting for others to come. */
const heldAtOnce = 2

/** For longer the write-ahead log could not begin anew behind a few requests. */
const mostLingerMs = 10

/** One that waits for a long statement of another waits no longer than for this many. */
const mostSharing = 8

/** How many of those that are used again first stay connected. To make one anew costs more than all else. */
const mostConnected = 4
