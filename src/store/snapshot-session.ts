import type { StoreReader } from './contract.ts'
import { type Database, mostSnapshotMs, type SnapshotConnection } from './database.ts'
import type { KeptRows } from './kept-rows.ts'
import { createSnapshotReader } from './reader.ts'

/** A connection of `snapshots.ts`, and what reads on it. */

/** A read of a snapshot that has lasted too long, or one that could not begin for as long. */
export class SnapshotOver extends Error {
  constructor() {
    super(`a snapshot lasted for more than ${mostSnapshotMs} ms`)
    this.name = 'SnapshotOver'
  }
}

/** A connection with what reads on it, and the snapshot that it holds. */
export interface SnapshotSession {
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

type Query = SnapshotConnection['query']

/** It holds no snapshot yet. */
export function createSnapshotSession(
  database: Database,
  base: StoreReader,
  kept: KeptRows,
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
    lingering: undefined,
    answers,
  }
  return session
}

/** What has no parameters is read once in a snapshot: the newest milestone and the tip are asked for by many fields. */
function readOnce(answers: SnapshotSession['answers'], read: Query): Query {
  return (sql, parameters) => {
    if (parameters.length > 0) return read(sql, parameters)
    const known = answers.get(sql)
    if (known !== undefined) return known
    const answer = read(sql, parameters)
    answers.set(sql, answer)
    return answer
  }
}

/** Whatever a read fails with once the snapshot is over, that is why. */
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
