import {
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQueryable,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { RawParameter, RawTx } from './client.ts'
import type { SqliteQueries } from './sqlite-queries.ts'

/**
 * Raw statements and transactions of them on a connection below its client: through the client a statement costs more than
 * most do in the database (docs/decisions/027-submissions.md).
 */
export interface RawConnection extends RawTx {
  /** Runs `work` in one transaction, which waits for the former one. */
  transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T>
}

/** Statements on the connection that `connect` gives; it is asked before each, and gives one that is open. */
export function rawConnection(connect: () => Promise<SqlDriverAdapter>): RawConnection {
  async function transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T> {
    const transaction = await (await connect()).startTransaction()
    try {
      const done = await work(rawStatements(async () => transaction))
      await transaction.executeRaw(commit)
      await transaction.commit()
      return done
    } catch (failure) {
      // Rolls back what is open still.
      await transaction.rollback()
      throw failure
    }
  }

  return { ...rawStatements(connect), transact }
}

/** A connection that may have a shorter way for statements that are repeated. */
type EachConnection = SqlQueryable & { readonly executeEach?: SqliteQueries['executeEach'] }

const commit = { sql: 'COMMIT', args: [], argTypes: [] }

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
    // As Prisma gives them: the caller names what it has asked for.
    $queryRawUnsafe: async <Rows>(text: string, ...parameters: readonly RawParameter[]) =>
      rowsOf(await (await connect()).queryRaw(queryOf(text, parameters))) as Rows,
  }
}

/** Rows by the names of their columns, with the values that Prisma gives. */
function rowsOf({ columnNames, columnTypes, rows }: SqlResultSet): object[] {
  return rows.map((values) => {
    const row: { [column: string]: unknown } = {}
    for (let i = 0; i < columnNames.length; i++) {
      row[columnNames[i] ?? ''] = valueAs(values[i], columnTypes[i])
    }
    return row
  })
}

/** An adapter gives whole numbers and truth values as numbers or digits. */
function valueAs(value: unknown, type: ColumnType | undefined): unknown {
  if (typeof value !== 'number' && typeof value !== 'string') return value
  if (type === ColumnTypeEnum.Int64) return BigInt(value)
  return type === ColumnTypeEnum.Boolean ? value !== 0 : value
}
