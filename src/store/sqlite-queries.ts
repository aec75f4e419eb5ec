import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { RawParameter } from './client.ts'
import { adapterErrorOf } from './sqlite-errors.ts'
import { isLarge, keepStatements, rowsOf } from './sqlite-statements.ts'

/**
 * What a connection to SQLite is asked, in the types of Prisma's driver adapters. It knows the column types of our tables and of
 * Prisma's table of migrations, and no others.
 */
export interface SqliteQueries {
  queryRaw(query: SqlQuery): Promise<SqlResultSet>
  /** How many rows a statement changed; meaningless for one that changes none, such as BEGIN. */
  executeRaw(query: SqlQuery): Promise<number>
  /** Runs a statement once for each list of parameters; gives the number of rows changed. */
  executeEach(sql: string, lists: readonly (readonly RawParameter[])[]): Promise<number>
  executeScript(script: string): Promise<void>
  /** Rolls back what is open still. */
  endTransaction(): Promise<void>
  close(): Promise<void>
}

/** Asks the database on this thread: each call holds the event loop. It owns the database that it is given. */
export function sqliteQueries(database: DatabaseSync): SqliteQueries {
  const kept = keepStatements(database, columnsOf)

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

  function execute(query: SqlQuery): number {
    return run(query, (statement, parameters) => Number(statement.run(...parameters).changes))
  }

  async function executeEach(
    sql: string,
    lists: readonly (readonly RawParameter[])[],
  ): Promise<number> {
    return lists.reduce((sum, args) => sum + execute({ sql, args: [...args], argTypes: [] }), 0)
  }

  async function executeScript(script: string): Promise<void> {
    withAdapterErrors(() => database.exec(script))
  }

  async function endTransaction(): Promise<void> {
    if (database.isOpen && database.isTransaction) await executeScript('ROLLBACK')
  }

  return {
    queryRaw,
    executeRaw: async (query) => execute(query),
    executeEach,
    executeScript,
    endTransaction,
    close: async () => database.close(),
  }
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
