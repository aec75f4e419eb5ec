import { assert, present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Id } from '../../protocol/primitives.ts'
import { digits, digitsOf } from '../values.ts'
import type { BulkColumn, BulkTable, ColumnType, Dialect, JsonValue } from './bulk.ts'

/** Kinds of columns, and how a table is described by them. */

/** A column as its values are written. */
export interface WrittenColumn<V> {
  readonly type: ColumnType
  readonly write: (value: V) => JsonValue
  /** In the database, where the rows of the program call it otherwise. */
  readonly name?: string
}

/** A column that is read too. */
export interface Column<V> extends WrittenColumn<V> {
  /** Bytes that the program has as text are read as text, for building an array of bytes costs more than all else. */
  readonly asText?: boolean
  /** The value of what the driver gives. */
  readonly read: (value: unknown) => V
}

/** A table that is read: each list of columns, in their order, becomes a row. */
export interface ReadTable<R, Row> extends BulkTable<R> {
  readonly rowOf: (values: readonly unknown[]) => Row
  /** The values of single columns. */
  readonly read: { readonly [P in keyof Row]: (value: unknown) => Row[P] }
}

type WrittenColumns = { readonly [property: string]: WrittenColumn<never> }
type ReadColumns = {
  readonly [property: string]: WrittenColumn<never> & {
    readonly asText?: boolean
    readonly read: (value: unknown) => unknown
  }
}

/** A row with these columns, as it is written. */
export type RowOf<C extends WrittenColumns> = {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? never : P]: ValueOf<C[P]>
} & {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? P : never]?: ValueOf<C[P]>
}

/** The same as it is read: every member is there. */
export type ReadRowOf<C extends ReadColumns> = { readonly [P in keyof C]: ReturnType<C[P]['read']> }

type ReadsOf<C extends ReadColumns> = {
  readonly [P in keyof C]: (value: unknown) => ReturnType<C[P]['read']>
}

type ValueOf<C> = C extends WrittenColumn<infer V> ? V : never

/** Describes a table, or some of its columns, for writing and matching. */
export function writtenTable<C extends WrittenColumns>(
  name: string,
  columns: C,
  keyLength = 1,
): BulkTable<RowOf<C>> {
  const parts = Object.entries(columns).map(([property, column]) => ({
    ...column,
    name: column.name ?? property,
    property: property as keyof RowOf<C>,
    write: column.write as (value: unknown) => JsonValue,
  }))
  return {
    name,
    columns: parts,
    keyLength,
    valuesOf: (row) => parts.map(({ property, write }) => write(row[property])),
  }
}

/** Describes a table, or some of its columns, for reading as well. */
export function table<C extends ReadColumns>(
  name: string,
  columns: C,
  keyLength = 1,
): ReadTable<RowOf<C>, ReadRowOf<C>> {
  const members = Object.entries(columns).map(([property, { read }]) => ({ property, read }))
  function rowOf(values: readonly unknown[]): ReadRowOf<C> {
    const row: { [property: string]: unknown } = {}
    let place = 0
    for (const { property, read } of members) row[property] = read(values[place++])
    return row as ReadRowOf<C>
  }
  const read = Object.fromEntries(members.map(({ property, read }) => [property, read]))
  return { ...writtenTable(name, columns, keyLength), rowOf, read: read as ReadsOf<C> }
}

/** The columns of a table as a statement selects them. */
export function selected(
  dialect: Dialect,
  { name, columns }: Pick<BulkTable<never>, 'name' | 'columns'>,
): string {
  return columns
    .map((column) => selectedColumn(dialect, `${name}."${column.name}"`, column))
    .join(', ')
}

/** Some of the columns by their names, in that order. */
export function selectedOf(
  dialect: Dialect,
  { columns }: Pick<BulkTable<never>, 'columns'>,
  names: readonly string[],
): string {
  const found = names.map((name) =>
    present(
      columns.find((one) => one.name === name),
      name,
    ),
  )
  return found.map((column) => selectedColumn(dialect, `"${column.name}"`, column)).join(', ')
}

/** An amount as text, for it goes up to 2^64 - 1 and the drivers give numbers. */
function selectedColumn(dialect: Dialect, plain: string, column: BulkColumn): string {
  if (column.asText === true) return `${dialect.hex(plain)} AS "${column.name}"`
  return column.type === 'amount' ? `CAST(${plain} AS TEXT) AS "${column.name}"` : plain
}

/** A kind of column by its two directions. */
export function column<V>(
  type: ColumnType,
  write: (value: V) => JsonValue,
  read: (value: unknown) => V,
): Column<V> {
  return { type, write, read }
}

/** A value that is JSON as it is. */
export function asIs<V extends JsonValue>(value: V): V {
  return value
}

/** Ids of one kind. */
export function id<Kind extends string>(): Column<Id<Kind>> {
  return { type: 'bytes', asText: true, write: digits, read: idOfText }
}

/** Bytes that the program has as text. */
export const hex: Column<Hex> = { type: 'bytes', asText: true, write: digits, read: hexOfText }

/** Bytes that the program has as bytes. */
export const bytes = column<Uint8Array>('bytes', digitsOf, (value) => {
  assert(value instanceof Uint8Array, 'bytes are bytes')
  return value
})

/** Whole numbers of 32 bits. */
export const int = column<number>('int', asIs, Number)
/** Whole numbers up to 2^53 - 1. */
export const long = column<number>('long', asIs, Number)
/** Whole numbers up to 2^64 - 1. */
export const amount = column<bigint>('amount', String, (value) => BigInt(String(value)))
/** Truth values. */
export const truth = column<boolean>('boolean', asIs, Boolean)
/** Text. */
export const text = column<string>('text', asIs, String)

/** A column that may be null. Where bytes are read as text, SQLite gives null as the text of no bytes. */
export function optional<V>({ write, read, ...rest }: Column<V>): Column<V | undefined> {
  return {
    ...rest,
    write: (value) => (value === undefined ? null : write(value)),
    read: (value) => (value === null || value === '0x' ? undefined : read(value)),
  }
}

/** A column that the database calls otherwise. */
export function named<C extends WrittenColumn<never>>(name: string, one: C): C {
  return { ...one, name }
}

/** Bytes as `Dialect.hex` gives them. */
export function hexOfText(value: unknown): Hex {
  assert(isHexText(value), 'ids, addresses and hashes are read as text')
  return value
}

function idOfText<Kind extends string>(value: unknown): Id<Kind> {
  return hexOfText(value) as Id<Kind>
}

function isHexText(value: unknown): value is Hex {
  return typeof value === 'string' && value.startsWith('0x')
}
