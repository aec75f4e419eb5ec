import { getOrInsert } from '../lib/get-or-insert.ts'
import type { StoreReader } from './contract.ts'
import { type Database, maxSnapshotMs, type SnapshotConnection } from './database.ts'
import { createSnapshotReader } from './reader.ts'
import type { RowCache } from './row-cache.ts'

/** A connection of `snapshots.ts` and its reader. */

/** Thrown by reads of an expired snapshot, and by a snapshot that waited for the same time without beginning. */
export class SnapshotOver extends Error {
  constructor() {
    super(`a snapshot lasted for more than ${maxSnapshotMs} ms`)
    this.name = 'SnapshotOver'
  }
}

/** A connection, its reader, and the state of the snapshot that it holds. */
export interface SnapshotSession {
  readonly connection: SnapshotConnection
  readonly read: StoreReader
  /** Settles when the connection holds the snapshot. */
  begun: Promise<void>
  /** Number of queries that use the snapshot. */
  users: number
  /** `changes()` of the database when the snapshot began. */
  changes: number | undefined
  /** Time at which the snapshot began, by the monotonic clock. */
  begunMs: number
  /** Whether the snapshot has expired. */
  isOver: boolean
  /** Timer that expires the snapshot. */
  timer: NodeJS.Timeout | undefined
  /** Time at which the last user left, by the monotonic clock. */
  leftMs: number
  /** Timer that ends an unused snapshot. */
  idleTimer: NodeJS.Timeout | undefined
  /** Results of statements without parameters, by statement text. */
  readonly answers: Map<string, ReturnType<SnapshotConnection['query']>>
}

type Query = SnapshotConnection['query']

/** Creates a session that holds no snapshot yet. */
export function createSnapshotSession(
  database: Database,
  base: StoreReader,
  kept: RowCache,
): SnapshotSession {
  const connection = database.snapshotConnection()
  const isOver = () => session.isOver
  const answers: SnapshotSession['answers'] = new Map()
  const query = failingOnceOver(isOver, readOnce(answers, connection.query))
  const queryBoth = failingOnceOver(isOver, connection.queryBoth)
  const { logForms, statements } = database
  const session: SnapshotSession = {
    connection,
    read: createSnapshotReader(base, { query, queryBoth, logForms, statements }, kept),
    begun: Promise.resolve(),
    users: 0,
    changes: undefined,
    begunMs: 0,
    isOver: false,
    timer: undefined,
    leftMs: 0,
    idleTimer: undefined,
    answers,
  }
  return session
}

/** Reads each statement without parameters once per snapshot: many fields ask for the newest milestone and the tip. */
function readOnce(answers: SnapshotSession['answers'], read: Query): Query {
  return (sql, parameters) => {
    if (parameters.length > 0) return read(sql, parameters)
    return getOrInsert(answers, sql, () => read(sql, parameters))
  }
}

/** Replaces every failure of a read with `SnapshotOver` once the snapshot has expired. */
function failingOnceOver<A extends readonly unknown[], T>(
  isOver: () => boolean,
  read: (...args: A) => Promise<T>,
) {
  return async (...args: A): Promise<T> => {
    if (isOver()) throw new SnapshotOver()
    try {
      return await read(...args)
    } catch (failure) {
      throw isOver() ? new SnapshotOver() : failure
    }
  }
}
