import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Database, Parameter, Rows, SnapshotConnection } from './database.ts'
import { isLarge, type KeptStatements, keepStatements, rowsOf } from './sqlite-statements.ts'

/** The reads of SQLite by the driver alone, on a connection of their own. */

/** Reads until it is closed. */
export interface SqliteReads extends SnapshotConnection, Pick<Database, 'changes'> {}

/** Nothing is opened before the first read; `open` throws when there are to be no more. */
export function openReads(open: () => DatabaseSync): SqliteReads {
  let connection: DatabaseSync | undefined
  let openings = 0
  let kept: KeptStatements<number> | undefined

  function run(sql: string, parameters: readonly Parameter[]): Rows {
    if (connection === undefined) {
      connection = open()
      openings++
    }
    kept ??= keepStatements(connection, parametersOf)
    const prepared = kept.get(sql)
    const bound = parameters.slice(0, prepared.note).map(boundAs)
    if (bound.some(isLarge)) kept.drop(sql)
    return rowsOf(prepared, bound)
  }

  function isInTransaction(): boolean {
    return connection?.isTransaction === true
  }

  async function queryBoth(first: string, second: string, parameters: readonly Parameter[]) {
    // Not a union of both, which would take a third longer: it copies every row.
    const both = () => [...run(first, parameters), ...run(second, parameters)]
    if (isInTransaction()) return both()
    run('BEGIN', [])
    try {
      return both()
    } finally {
      // A failure of the file may have ended it already.
      await end()
    }
  }

  async function begin(): Promise<void> {
    run('BEGIN', [])
    // BEGIN alone takes no snapshot; a read does.
    run('PRAGMA schema_version', [])
  }

  async function end(): Promise<void> {
    if (isInTransaction()) run('COMMIT', [])
  }

  function close(): void {
    connection?.close()
    connection = undefined
    kept = undefined
  }

  return {
    query: async (sql, parameters) => run(sql, parameters),
    queryBoth,
    // Another one after each commit of another connection, for this one only reads; and those of two connections cannot be compared.
    changes: () => Number(run('PRAGMA data_version', [])[0]?.[0]) + openings * 2 ** 32,
    begin,
    hasMoment: () => true,
    end,
    close,
  }
}

/** How many parameters a statement takes, for the driver refuses more; without `?1` all that are given. */
function parametersOf(statement: StatementSync): number {
  const places = [...statement.sourceSQL.matchAll(/\?(\d+)/g)].map(([, place]) => Number(place))
  return places.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...places)
}

/** The driver knows no truth values. */
function boundAs(parameter: Parameter) {
  return typeof parameter === 'boolean' ? Number(parameter) : parameter
}
