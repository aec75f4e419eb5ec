import type { StoreReader, StoreSnapshot } from './contract.ts'
import { type Database, maxSnapshotMs } from './database.ts'
import type { StoreLoad } from './load.ts'
import { createRowCache } from './row-cache.ts'
import { createBatchGate, createSnapshotQueue } from './snapshot-queue.ts'
import { createSnapshotSession, type SnapshotSession } from './snapshot-session.ts'

/**
 * Snapshots of the database: all reads of one query see the same state. If the database reports each change at once, queries that
 * begin between two changes share one snapshot, which stays open a little longer than it is used. Otherwise queries
 * that begin before the first of them reads share one snapshot.
 */

export interface Snapshots {
  begin(): Promise<StoreSnapshot>
  load(): StoreLoad['snapshots']
  close(): void
}

/** Creates the snapshots. The first one opens the first connection. */
export function createSnapshots(
  database: Database,
  base: StoreReader,
  maxMs = maxSnapshotMs,
): Snapshots {
  const queue = createSnapshotQueue(maxMs)
  const gate = createBatchGate()
  const sessions = createSessions({
    database,
    base,
    maxMs,
    onEnd: () => {
      gate.open()
      queue.admitNext()
    },
  })
  const { busy, finish } = sessions

  async function begin(): Promise<StoreSnapshot> {
    let changes = database.changes()
    // If only requests that begin together can share a snapshot, they wait for each other. Their statements then share messages.
    if (changes === undefined && busy.size >= maxUnbatched) await gate.wait()
    const shared = sessionToShare(busy, changes)
    if (shared !== undefined) return await use(shared)
    const unused = [...busy].find(({ users, idleTimer }) => users === 0 && idleTimer !== undefined)
    if (unused !== undefined) await finish(unused)
    if (busy.size + queue.reserved() >= database.maxSnapshots || queue.waiting() > 0) {
      await queue.wait()
      queue.claim()
      // Read before the snapshot begins: the snapshot has at least these changes, and its later users have seen no others.
      changes = database.changes()
    }
    return await use(sessions.start(changes))
  }

  async function use(session: SnapshotSession): Promise<StoreSnapshot> {
    session.users++
    try {
      await session.begun
    } catch (failure) {
      await release(session)
      throw failure
    }
    // The snapshot expired before it began.
    if (session.isOver) session.connection.close()
    return { read: session.read, isStale: async () => false, end: () => void release(session) }
  }

  async function release(session: SnapshotSession): Promise<void> {
    session.users--
    if (session.users > 0 || session.isOver) return
    if (session.changes === undefined) return await finish(session)
    session.leftMs = performance.now()
    if (session.idleTimer === undefined) holdIdle(session, finish)
  }

  const load = () => ({ held: sessions.held(), waiting: queue.waiting() })
  return { begin, load, close: sessions.close }
}

/**
 * Returns a session that a new query may join: its snapshot began after the last change and will not expire soon, or it has not read
 * anything yet.
 */
function sessionToShare(
  busy: ReadonlySet<SnapshotSession>,
  changes: number | undefined,
): SnapshotSession | undefined {
  if (changes === undefined) {
    // A session without users is about to end.
    return [...busy].find(
      ({ connection, users, isOver }) =>
        !isOver && !connection.hasMoment() && users > 0 && users < maxBatchUsers,
    )
  }
  const since = performance.now() - maxSharedAgeMs
  return [...busy].find((one) => one.changes === changes && !one.isOver && one.begunMs > since)
}

/** Keeps an unused snapshot open for the next query. Many queries share one timer, because a timer costs as much as a short read. */
function holdIdle(session: SnapshotSession, finish: (session: SnapshotSession) => unknown): void {
  session.idleTimer = setTimeout(() => {
    session.idleTimer = undefined
    if (session.users > 0) return
    if (performance.now() - session.leftMs < maxIdleMs) holdIdle(session, finish)
    else void finish(session)
  }, maxIdleMs)
  session.idleTimer.unref()
}

interface SessionDeps {
  readonly database: Database
  readonly base: StoreReader
  readonly maxMs: number
  /** Called after a session has given up its snapshot. */
  readonly onEnd: () => void
}

/** Starts sessions, and keeps some of them connected for reuse. */
function createSessions({ database, base, maxMs, onEnd }: SessionDeps) {
  const idle: SnapshotSession[] = []
  const rowCache = createRowCache()
  /** Sessions that hold a snapshot or are about to. */
  const busy = new Set<SnapshotSession>()

  function start(changes: number | undefined): SnapshotSession {
    const session = idle.pop() ?? createSnapshotSession(database, base, rowCache)
    busy.add(session)
    session.changes = changes
    session.begunMs = performance.now()
    session.begun = session.connection.begin()
    session.timer = setTimeout(() => expire(session), maxMs)
    session.timer.unref()
    return session
  }

  async function finish(session: SnapshotSession): Promise<void> {
    clearTimeout(session.timer)
    clearTimeout(session.idleTimer)
    session.idleTimer = undefined
    session.changes = undefined
    session.answers.clear()
    // The next read reports what is wrong with the connection.
    await session.connection.end().catch(() => session.connection.close())
    if (idle.length >= maxConnected) idle[idle.length - maxConnected]?.connection.close()
    idle.push(session)
    busy.delete(session)
    onEnd()
  }

  /** Closes the connection for good: later reads fail instead of reading another state. */
  function expire(session: SnapshotSession): void {
    session.isOver = true
    session.connection.close()
    busy.delete(session)
    onEnd()
  }

  function close(): void {
    for (const session of busy) {
      clearTimeout(session.timer)
      clearTimeout(session.idleTimer)
      session.isOver = true
    }
    for (const { connection } of [...busy, ...idle]) connection.close()
  }

  const held = () => [...busy].filter(({ users }) => users > 0).length
  return { busy, start, finish, held, close }
}

/** Age above which a snapshot accepts no further users. */
const maxSharedAgeMs = 1_000

/** Snapshots that may be open before new requests wait to share one. */
const maxUnbatched = 2

/** A longer hold would keep SQLite from restarting its write-ahead log. */
const maxIdleMs = 10

/** A request that waits for a long statement of another request waits for no more than this many requests. */
const maxBatchUsers = 8

/** Idle sessions that stay connected. They are reused first, because a new connection costs more than everything else here. */
const maxConnected = 4
