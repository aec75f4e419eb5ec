import type { StoreReader, StoreSnapshot } from './contract.ts'
import { type Database, mostSnapshotMs, type SnapshotConnection } from './database.ts'
import { createKeptRows } from './kept-rows.ts'
import type { StoreLoad } from './load.ts'
import { createSnapshotReader } from './reader.ts'

/**
 * Snapshots of the database: what one query reads is of one moment. Where a change of the database shows at once, those
 * that begin between two changes share one, which is kept a little longer than it is used; where it does not, those that begin before
 * the first of them reads.
 */

/** A read of a snapshot that has lasted too long, or one that could not begin for as long. */
export class SnapshotOver extends Error {
  constructor() {
    super(`a snapshot lasted for more than ${mostSnapshotMs} ms`)
    this.name = 'SnapshotOver'
  }
}

/** Snapshots until they are closed. */
export interface Snapshots {
  begin(): Promise<StoreSnapshot>
  load(): StoreLoad['snapshots']
  close(): void
}

/** A connection with what reads on it, and the snapshot that it holds. */
interface Session {
  readonly connection: SnapshotConnection
  readonly read: StoreReader
  /** Settled when the connection holds the snapshot. */
  begun: Promise<void>
  /** How many use the snapshot. */
  users: number
  /** `changes` of the database when it began. */
  changes: number | undefined
  /** By the monotonic clock. */
  begunMs: number
  isOver: boolean
  timer: NodeJS.Timeout | undefined
  /** When its last user left it, by the monotonic clock. */
  leftMs: number
  /** Until it is ended, or looked at again. */
  lingering: NodeJS.Timeout | undefined
  /** Of the statements without parameters, by their text. */
  readonly answers: Map<string, ReturnType<SnapshotConnection['query']>>
}

/** Nothing is connected before the first one begins. */
export function createSnapshots(
  database: Database,
  base: StoreReader,
  mostMs = mostSnapshotMs,
): Snapshots {
  const idle: Session[] = []
  const kept = createKeptRows()
  /** Those that hold a snapshot or are about to. */
  const busy = new Set<Session>()
  const waiting: (() => void)[] = []
  /** Who waits to begin together. */
  let gathering: Promise<void> | undefined
  let gathered: () => void = () => {}
  /** Places of those who were woken and have not come yet. */
  let promised = 0

  function open(): Session {
    const connection = database.snapshotConnection()
    const query = checked(once(connection.query))
    const queryBoth = checked(connection.queryBoth)
    const { logForms, statements } = database
    const reads = { query, queryBoth, logForms, statements }
    const session: Session = {
      connection,
      read: createSnapshotReader(base, reads, kept),
      begun: Promise.resolve(),
      users: 0,
      changes: undefined,
      begunMs: 0,
      isOver: false,
      timer: undefined,
      leftMs: 0,
      lingering: undefined,
      answers: new Map(),
    }
    return session

    /** What has no parameters is read once in a snapshot: the newest milestone and the tip are asked for by many fields. */
    function once(read: SnapshotConnection['query']): SnapshotConnection['query'] {
      return (sql, parameters) => {
        if (parameters.length > 0) return read(sql, parameters)
        const known = session.answers.get(sql)
        if (known !== undefined) return known
        const answer = read(sql, parameters)
        session.answers.set(sql, answer)
        return answer
      }
    }

    function checked<A extends readonly unknown[], T>(read: (...args: A) => Promise<T>) {
      return async (...args: A): Promise<T> => {
        if (session.isOver) throw new SnapshotOver()
        try {
          return await read(...args)
        } catch (failure) {
          throw session.isOver ? new SnapshotOver() : failure
        }
      }
    }
  }

  /** One that began after the last change, and not so long ago that it is soon over; or whose moment is still to come. */
  function shareable(changes: number | undefined): Session | undefined {
    if (changes === undefined) {
      return [...busy].find(
        ({ connection, users, isOver }) =>
          !isOver && !connection.hasMoment() && users < mostSharing,
      )
    }
    const since = performance.now() - mostSharedMs
    return [...busy].find((one) => one.changes === changes && !one.isOver && one.begunMs > since)
  }

  function leave(session: Session): void {
    busy.delete(session)
    gathered()
    const next = waiting.shift()
    if (next === undefined) return
    promised++
    next()
  }

  /** Resolves when another one has ended; rejects where none does for as long as one may last. */
  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(new SnapshotOver())
      }, mostMs)
      late.unref()
      const enter = () => {
        clearTimeout(late)
        resolve()
      }
      waiting.push(enter)
    })
  }

  /**
   * Where a snapshot can be shared only by those who begin together, and some are held, those who come wait for each other until one
   * ends, and not for long: their statements go in common messages.
   */
  function gather(): Promise<void> {
    gathering ??= new Promise((resolve) => {
      const late = setTimeout(() => gathered(), mostGatherMs)
      gathered = () => {
        clearTimeout(late)
        gathering = undefined
        resolve()
      }
    })
    return gathering
  }

  async function begin(): Promise<StoreSnapshot> {
    let changes = database.changes()
    if (changes === undefined && busy.size >= heldAtOnce) await gather()
    const shared = shareable(changes)
    if (shared !== undefined) return await use(shared)
    const left = [...busy].find(({ users, lingering }) => users === 0 && lingering !== undefined)
    if (left !== undefined) await finish(left)
    if (busy.size + promised >= database.mostSnapshots || waiting.length > 0) {
      await turn()
      promised--
      // Read before it begins: it has at least these changes, and who shares it has seen no others.
      changes = database.changes()
    }
    const session = idle.pop() ?? open()
    busy.add(session)
    session.changes = changes
    session.begunMs = performance.now()
    session.begun = session.connection.begin()
    session.timer = setTimeout(() => expire(session), mostMs)
    session.timer.unref()
    return await use(session)
  }

  async function use(session: Session): Promise<StoreSnapshot> {
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

  async function release(session: Session): Promise<void> {
    session.users--
    if (session.users > 0 || session.isOver) return
    if (session.changes === undefined) return await finish(session)
    session.leftMs = performance.now()
    if (session.lingering === undefined) linger(session)
  }

  /** Keeps it for those who come soon. One timer for many of them, for it costs as much as a short read. */
  function linger(session: Session): void {
    session.lingering = setTimeout(() => {
      session.lingering = undefined
      if (session.users > 0) return
      if (performance.now() - session.leftMs < mostLingerMs) linger(session)
      else void finish(session)
    }, mostLingerMs)
    session.lingering.unref()
  }

  async function finish(session: Session): Promise<void> {
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
  function expire(session: Session): void {
    session.isOver = true
    session.connection.close()
    leave(session)
  }

  return {
    begin,
    load: () => ({
      held: [...busy].filter(({ users }) => users > 0).length,
      waiting: waiting.length,
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
const mostGatherMs = 2

/** For longer the write-ahead log could not begin anew behind a few requests. */
const mostLingerMs = 10

/** One that waits for a long statement of another waits no longer than for this many. */
const mostSharing = 8

/** How many of those that are used again first stay connected. To make one anew costs more than all else. */
const mostConnected = 4
