import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
  type SqlQuery,
  type SqlResultSet,
  type Transaction,
} from '@prisma/driver-adapter-utils'
import { adapterErrorOf } from './sqlite-errors.ts'
import { isLarge, keepStatements, rowsOf } from './sqlite-statements.ts'

/**
 * Prisma's driver adapter for the SQLite that Node brings. It knows the column types of our tables and of Prisma's table of
 * migrations, and no others. Unlike Prisma's own adapters it keeps what it prepared.
 */

/** The names by which Prisma knows the adapter. */
export const adapterInfo = { provider: 'sqlite', adapterName: 'node-sqlite' } as const

/**
 * How transactions begin: one that writes takes the lock of the file before it reads, for SQLite refuses to write what another
 * process has written since the first read of a transaction.
 */
export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

/** A connection for Prisma; it owns the database that it is given. */
export function sqliteConnection(database: DatabaseSync, begin: Begin = 'BEGIN'): SqlDriverAdapter {
  const kept = keepStatements(database, columnsOf)
  const queries = { queryRaw, executeRaw }
  const startTransaction = serialTransactions({ database, queries, executeScript, begin })

  /** Runs a query on its statement; failures are in Prisma's words. */
  function run<T>({ sql, args, argTypes }: SqlQuery, work: Work<T>): T {
    return withAdapterErrors(() => {
      const parameters = args.map((arg, i) => parameterOf(arg, argTypes[i]))
      const { statement, note } = kept.get(sql)
      // A statement holds its parameters until it is given the next ones.
      if (parameters.some(isLarge)) kept.drop(sql)
      return work(statement, parameters, note)
    })
  }

  async function queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return run(query, (statement, parameters, noted) => {
      const rows = rowsOf({ statement }, parameters)
      const isAltered = rows[0] !== undefined && rows[0].length !== noted.names.length
      if (isAltered) kept.drop(query.sql)
      const { names, types } = isAltered ? columnsOf(statement) : noted
      const columnTypes = types.map((type, i) => type ?? inferredType(rows, i))
      for (const row of rows) convertIntegers(row, columnTypes)
      return { columnNames: names, columnTypes, rows }
    })
  }

  /** How many rows a statement changed; meaningless for one that changes none, such as BEGIN. */
  async function executeRaw(query: SqlQuery): Promise<number> {
    return run(query, (statement, parameters) => Number(statement.run(...parameters).changes))
  }

  async function executeScript(script: string): Promise<void> {
    withAdapterErrors(() => database.exec(script))
  }

  async function dispose(): Promise<void> {
    database.close()
  }

  return { ...adapterInfo, ...queries, executeScript, startTransaction, dispose }
}

/** Begins transactions, each when the former one is over: a connection has one at a time. */
function serialTransactions({ database, queries, executeScript, begin }: TransactionParts) {
  /** Settled when all transactions begun or waiting so far are over. */
  let lastEnd: Promise<void> = Promise.resolve()

  return async (isolationLevel?: IsolationLevel): Promise<Transaction> => {
    if (isolationLevel !== undefined && isolationLevel !== 'SERIALIZABLE') {
      throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level: isolationLevel })
    }
    const former = lastEnd
    let release = () => {}
    lastEnd = new Promise((resolve) => {
      release = resolve
    })
    await former

    // Prisma has sent COMMIT or ROLLBACK before. A COMMIT that failed may leave the transaction open, and every later
    // one would begin within it.
    async function end(): Promise<void> {
      try {
        if (database.isOpen && database.isTransaction) await executeScript('ROLLBACK')
      } finally {
        release()
      }
    }

    try {
      await executeScript(begin)
    } catch (failure) {
      release()
      throw failure
    }
    const options = { usePhantomQuery: false }
    return { ...adapterInfo, options, ...queries, commit: end, rollback: end }
  }
}

interface TransactionParts {
  readonly database: DatabaseSync
  readonly queries: Pick<SqlDriverAdapter, 'queryRaw' | 'executeRaw'>
  readonly executeScript: SqlDriverAdapter['executeScript']
  readonly begin: Begin
}

function withAdapterErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (failure) {
    throw adapterErrorOf(failure)
  }
}

type Work<T> = (statement: StatementSync, parameters: SQLInputValue[], columns: Columns) => T

/** What is read of a statement once, for it costs as much as preparing. */
interface Columns {
  readonly names: string[]
  /** `undefined` for an expression, and for a declared type that is not one of ours. */
  readonly types: readonly (ColumnType | undefined)[]
}

/** Whole numbers are read as bigints: the driver refuses to read one beyond 2^53 as a number. */
function columnsOf(statement: StatementSync): Columns {
  statement.setReadBigInts(true)
  const columns = statement.columns()
  return {
    names: columns.map(({ name }) => name),
    types: columns.map(({ type }) => declaredTypes.get(type ?? '')),
  }
}

/** By the words of the migrations. */
const declaredTypes: ReadonlyMap<string, ColumnType> = new Map([
  ['BIGINT', ColumnTypeEnum.Int64],
  ['INTEGER', ColumnTypeEnum.Int32],
  ['BOOLEAN', ColumnTypeEnum.Boolean],
  ['TEXT', ColumnTypeEnum.Text],
  ['BLOB', ColumnTypeEnum.Bytes],
  ['DATETIME', ColumnTypeEnum.DateTime],
])

/** By the first value that is there. */
function inferredType(rows: readonly unknown[][], column: number): ColumnType {
  const row = rows.find((one) => one[column] !== null)
  const value = row?.[column]
  if (typeof value === 'bigint') return ColumnTypeEnum.Int64
  if (typeof value === 'string') return ColumnTypeEnum.Text
  if (value instanceof Uint8Array) return ColumnTypeEnum.Bytes
  return value === undefined ? ColumnTypeEnum.Int32 : ColumnTypeEnum.UnknownNumber
}

/** In place. Prisma takes whole numbers as numbers where these are exact, or else as digits. */
function convertIntegers(row: unknown[], types: readonly ColumnType[]): void {
  for (let i = 0; i < row.length; i++) {
    const value = row[i]
    if (typeof value !== 'bigint') continue
    const number = Number(value)
    if (types[i] === ColumnTypeEnum.DateTime) row[i] = new Date(number).toISOString()
    else row[i] = Number.isSafeInteger(number) ? number : value.toString()
  }
}

/**
 * A parameter as the driver takes it. What it does not take must not come through: an object in the first place would be
 * read as named parameters, and all others as null.
 */
function parameterOf(arg: unknown, type: ArgType | undefined): SQLInputValue {
  if (typeof arg === 'boolean') return arg ? 1 : 0
  if (typeof arg === 'string') {
    if (type?.scalarType === 'bigint') return BigInt(arg)
    if (type?.scalarType === 'bytes') return Buffer.from(arg, 'base64')
    return arg
  }
  if (arg === null || typeof arg === 'number' || typeof arg === 'bigint') return arg
  if (arg instanceof Uint8Array) return arg
  throw new DriverAdapterError({
    kind: 'InvalidInputValue',
    message: `a parameter of type ${type?.scalarType ?? typeof arg} is not one that our tables have`,
  })
}
