import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Database, Parameter, Rows, SnapshotConnection } from '../database.ts'
import { createStatementCache, isLarge, rowsOf, type StatementCache } from './statements.ts'

/** Reads of SQLite through the driver alone, on a connection of their own. */

export interface SqliteReads extends SnapshotConnection, Pick<Database, 'changes'> {}

/** Creates the reads. The first read calls `open`, which throws once the store is closed. */
export function openReads(open: () => DatabaseSync): SqliteReads {
  let connection: DatabaseSync | undefined
  let openings = 0
  let cache: StatementCache<number> | undefined

  function run(sql: string, parameters: readonly Parameter[]): Rows {
    if (connection === undefined) {
      connection = open()
      openings++
    }
    cache ??= createStatementCache(connection, parametersOf)
    return runCached(cache, sql, parameters)
  }

  function isInTransaction(): boolean {
    return connection?.isTransaction === true
  }

  async function queryBoth(first: string, second: string, parameters: readonly Parameter[]) {
    // A union of both statements copies every row and takes a third longer.
    const both = () => [...run(first, parameters), ...run(second, parameters)]
    if (isInTransaction()) return both()
    run('BEGIN', [])
    try {
      return both()
    } finally {
      // A failure of the file may have ended the transaction already.
      await end()
    }
  }

  async function begin(): Promise<void> {
    run('BEGIN', [])
    // BEGIN alone takes no snapshot. The first read takes it.
    run('PRAGMA schema_version', [])
  }

  async function end(): Promise<void> {
    if (isInTransaction()) run('COMMIT', [])
  }

  function close(): void {
    connection?.close()
    connection = undefined
    cache = undefined
  }

  return {
    query: async (sql, parameters) => run(sql, parameters),
    queryBoth,
    // `data_version` changes after each commit of another connection, and this connection only reads. Values of two connections are not
    // comparable, so the number of openings is part of the result.
    changes: () => Number(run('PRAGMA data_version', [])[0]?.[0]) + openings * 2 ** 32,
    begin,
    hasMoment: () => true,
    end,
    close,
  }
}

function runCached(
  cache: StatementCache<number>,
  sql: string,
  parameters: readonly Parameter[],
): Rows {
  const prepared = cache.get(sql)
  const bound = parameters.slice(0, prepared.note).map(boundAs)
  if (bound.some(isLarge)) cache.drop(sql)
  return rowsOf(prepared, bound)
}

/** Number of parameters of a statement, because the driver rejects more. Infinite for a statement without numbered parameters. */
function parametersOf(statement: StatementSync): number {
  const places = [...statement.sourceSQL.matchAll(/\?(\d+)/g)].map(([, place]) => Number(place))
  return places.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...places)
}

/** Converts booleans, which the driver does not support. */
function boundAs(parameter: Parameter) {
  return typeof parameter === 'boolean' ? Number(parameter) : parameter
}
