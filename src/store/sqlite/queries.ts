import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { RawParameter } from '../client.ts'
import { adapterErrorOf } from './errors.ts'
import { createStatementCache, isLarge, rowsOf } from './statements.ts'

/**
 * Queries of a SQLite connection, in the types of Prisma's driver adapters. Only the column types of our tables and of Prisma's migration
 * table are supported.
 */
export interface SqliteQueries {
  queryRaw(query: SqlQuery): Promise<SqlResultSet>
  /** Resolves to the number of changed rows. The number is meaningless for a statement that changes no rows, such as BEGIN. */
  executeRaw(query: SqlQuery): Promise<number>
  /** Runs a statement once per list of parameters. Resolves to the number of changed rows. */
  executeEach(sql: string, lists: readonly (readonly RawParameter[])[]): Promise<number>
  executeScript(script: string): Promise<void>
  /** Rolls back the transaction if it is still open. */
  endTransaction(): Promise<void>
  close(): Promise<void>
}

/** Queries a database on this thread. Each call blocks the event loop. The result owns the given database. */
export function sqliteQueries(database: DatabaseSync): SqliteQueries {
  const cache = createStatementCache(database, columnsOf)

  /** Runs `work` with the prepared statement of a query. Throws Prisma's errors. */
  function run<T>({ sql, args, argTypes }: SqlQuery, work: Work<T>): T {
    return withAdapterErrors(() => {
      const parameters = args.map((arg, i) => parameterOf(arg, argTypes[i]))
      const { statement, note } = cache.get(sql)
      // A statement keeps its parameters in memory until its next execution.
      if (parameters.some(isLarge)) cache.drop(sql)
      return work(statement, parameters, note)
    })
  }

  async function queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return run(query, (statement, parameters, noted) => {
      const rows = rowsOf({ statement }, parameters)
      const isAltered = rows[0] !== undefined && rows[0].length !== noted.names.length
      if (isAltered) cache.drop(query.sql)
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

/** The columns of a statement. They are read once per statement, because reading them costs as much as preparing it. */
interface Columns {
  readonly names: string[]
  /** Declared types; `undefined` for an expression, and for a type that our tables do not have. */
  readonly types: readonly (ColumnType | undefined)[]
}

/** Reads the columns, and sets the statement to read integers as bigints: the driver rejects integers above 2^53 as numbers. */
function columnsOf(statement: StatementSync): Columns {
  statement.setReadBigInts(true)
  const columns = statement.columns()
  return {
    names: columns.map(({ name }) => name),
    types: columns.map(({ type }) => declaredTypes.get(type ?? '')),
  }
}

/** Column types by the type names of the migrations. */
const declaredTypes: ReadonlyMap<string, ColumnType> = new Map([
  ['BIGINT', ColumnTypeEnum.Int64],
  ['INTEGER', ColumnTypeEnum.Int32],
  ['BOOLEAN', ColumnTypeEnum.Boolean],
  ['TEXT', ColumnTypeEnum.Text],
  ['BLOB', ColumnTypeEnum.Bytes],
  ['DATETIME', ColumnTypeEnum.DateTime],
])

/** Infers the type of a column from its first value that is not null. */
function inferredType(rows: readonly unknown[][], column: number): ColumnType {
  const row = rows.find((one) => one[column] !== null)
  const value = row?.[column]
  if (typeof value === 'bigint') return ColumnTypeEnum.Int64
  if (typeof value === 'string') return ColumnTypeEnum.Text
  if (value instanceof Uint8Array) return ColumnTypeEnum.Bytes
  return value === undefined ? ColumnTypeEnum.Int32 : ColumnTypeEnum.UnknownNumber
}

/** Converts integers of a row in place. Prisma expects a number if it is exact, and decimal text otherwise. */
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
 * Converts a parameter for the driver. Throws for an unsupported type, because the driver would interpret an object as named parameters in
 * the first place, and as null in all others.
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
