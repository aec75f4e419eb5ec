import {
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQueryable,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { RawParameter, RawTx } from './client.ts'
import type { SqliteQueries } from './sqlite/queries.ts'

/**
 * Raw statements and transactions on a connection, bypassing its client: the overhead of the client exceeds the database time of most
 * statements (docs/decisions/027-submissions.md).
 */
export interface RawConnection extends RawTx {
  /** Runs `work` in one transaction, after the former transaction has ended. */
  transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T>
}

/** Creates raw statements. `connect` is called before each statement, and resolves to an open connection. */
export function rawConnection(connect: () => Promise<SqlDriverAdapter>): RawConnection {
  async function transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T> {
    const transaction = await (await connect()).startTransaction()
    try {
      const done = await work(rawStatements(async () => transaction))
      await transaction.executeRaw(commit)
      await transaction.commit()
      return done
    } catch (failure) {
      // As Prisma does: adapters leave the statement to their caller. It fails if the connection is lost or the transaction is over.
      await transaction.executeRaw(rollback).catch(() => {})
      await transaction.rollback()
      throw failure
    }
  }

  return { ...rawStatements(connect), transact }
}

/** A connection that may have a faster method for repeated statements. */
type EachConnection = SqlQueryable & { readonly executeEach?: SqliteQueries['executeEach'] }

const commit = { sql: 'COMMIT', args: [], argTypes: [] }
const rollback = { ...commit, sql: 'ROLLBACK' }

function rawStatements(connect: () => Promise<SqlQueryable>): RawTx {
  const queryOf = (sql: string, parameters: readonly RawParameter[]) => ({
    sql,
    args: [...parameters],
    argTypes: [],
  })

  return {
    $executeRawUnsafe: async (text, ...parameters) =>
      (await connect()).executeRaw(queryOf(text, parameters)),
    executeEach: async (text, lists) => {
      const connection: EachConnection = await connect()
      if (connection.executeEach !== undefined) return connection.executeEach(text, lists)
      let changed = 0
      for (const parameters of lists)
        changed += await connection.executeRaw(queryOf(text, parameters))
      return changed
    },
    // As in Prisma's client, the caller declares the type of the rows.
    $queryRawUnsafe: async <Rows>(text: string, ...parameters: readonly RawParameter[]) =>
      rowsOf(await (await connect()).queryRaw(queryOf(text, parameters))) as Rows,
  }
}

/** Converts rows to objects by column name, with values as in Prisma's client. */
function rowsOf({ columnNames, columnTypes, rows }: SqlResultSet): object[] {
  return rows.map((values) => {
    const row: { [column: string]: unknown } = {}
    for (let i = 0; i < columnNames.length; i++) {
      row[columnNames[i] ?? ''] = valueAs(values[i], columnTypes[i])
    }
    return row
  })
}

/** Converts integers and booleans, which an adapter returns as numbers or decimal text. */
function valueAs(value: unknown, type: ColumnType | undefined): unknown {
  if (typeof value !== 'number' && typeof value !== 'string') return value
  if (type === ColumnTypeEnum.Int64) return BigInt(value)
  return type === ColumnTypeEnum.Boolean ? value !== 0 : value
}
