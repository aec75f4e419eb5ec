import { assert, present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import type { Id } from '../../protocol/primitives.ts'
import { digits, digitsOf } from '../values.ts'
import type { BulkColumn, BulkTable, ColumnType, Dialect, JsonValue } from './bulk.ts'

/** Kinds of columns, and descriptions of tables that are made of them. */

/** Column that statements write or match. */
export interface WrittenColumn<V> {
  readonly type: ColumnType
  readonly write: (value: V) => JsonValue
  /** Name in the database, if it differs from the property name. */
  readonly name?: string
}

/** Column that statements also read. */
export interface Column<V> extends WrittenColumn<V> {
  /** Whether bytes are read as hexadecimal text, because creating a byte array is the most expensive part of a read. */
  readonly asText?: boolean
  /** Converts a value of the driver. */
  readonly read: (value: unknown) => V
}

/** Description of a table that statements also read. */
export interface ReadTable<R, Row, Stored = never> extends BulkTable<R> {
  /** Converts column values, in the order of the columns, to a row. */
  readonly rowOf: (values: readonly unknown[]) => Row
  /** Converts a model of Prisma, or a row of a statement that selects every column as it is stored. */
  readonly rowFrom: (stored: Stored) => Row
  /** Converts the values of single columns. */
  readonly read: { readonly [P in keyof Row]: (value: unknown) => Row[P] }
}

type WrittenColumns = { readonly [property: string]: WrittenColumn<never> }
type ReadColumns = {
  readonly [property: string]: WrittenColumn<never> & {
    readonly asText?: boolean
    readonly read: (value: unknown) => unknown
  }
}

/** Row with these columns, as statements write it. */
export type RowOf<C extends WrittenColumns> = {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? never : P]: ValueOf<C[P]>
} & {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? P : never]?: ValueOf<C[P]>
}

/** Row with these columns, as statements read it: every member is present. */
export type ReadRowOf<C extends ReadColumns> = { readonly [P in keyof C]: ReturnType<C[P]['read']> }

/** Row with these columns as they are stored: it has a member for each name in the database. */
type StoredRowOf<C extends ReadColumns> = {
  readonly [P in keyof C as C[P] extends { readonly name: infer N extends string } ? N : P]: unknown
}

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
): ReadTable<RowOf<C>, ReadRowOf<C>, StoredRowOf<C>> {
  const members = Object.entries(columns).map(([property, column]) => {
    return { property, name: property, asText: false, ...column }
  })
  function rowOf(values: readonly unknown[]): ReadRowOf<C> {
    const row: { [property: string]: unknown } = {}
    let place = 0
    for (const { property, read } of members) row[property] = read(values[place++])
    return row as ReadRowOf<C>
  }
  function rowFrom(stored: { readonly [name: string]: unknown }): ReadRowOf<C> {
    const row: { [property: string]: unknown } = {}
    for (const { property, name, asText, read } of members) {
      const value = stored[name]
      row[property] = read(asText && value instanceof Uint8Array ? bytesToHex(value) : value)
    }
    return row as ReadRowOf<C>
  }
  const read = Object.fromEntries(members.map(({ property, read }) => [property, read]))
  return { ...writtenTable(name, columns, keyLength), rowOf, rowFrom, read: read as ReadsOf<C> }
}

/** SQL that selects the columns of a table. */
export function selected(
  dialect: Dialect,
  { name, columns }: Pick<BulkTable<never>, 'name' | 'columns'>,
): string {
  return columns
    .map((column) => selectedColumn(dialect, `${name}."${column.name}"`, column))
    .join(', ')
}

/** SQL that selects some columns, in the order of the names. */
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

/** Amounts are selected as text: they go up to 2^64 - 1, and the drivers return numbers. */
function selectedColumn(dialect: Dialect, plain: string, column: BulkColumn): string {
  if (column.asText === true) return `${dialect.hex(plain)} AS "${column.name}"`
  return column.type === 'amount' ? `CAST(${plain} AS TEXT) AS "${column.name}"` : plain
}

/** Creates a kind of column from its two conversions. */
export function column<V>(
  type: ColumnType,
  write: (value: V) => JsonValue,
  read: (value: unknown) => V,
): Column<V> {
  return { type, write, read }
}

/** Returns a value that is JSON already. */
export function asIs<V extends JsonValue>(value: V): V {
  return value
}

export function id<Kind extends string>(): Column<Id<Kind>> {
  return { type: 'bytes', asText: true, write: digits, read: idOfText }
}

/** Column of bytes that the program handles as hexadecimal text. */
export const hex: Column<Hex> = { type: 'bytes', asText: true, write: digits, read: hexOfText }

export const bytes = column<Uint8Array>('bytes', digitsOf, (value) => {
  assert(value instanceof Uint8Array, 'the driver returns bytes as a byte array')
  return value
})

/** Column of integers of 32 bits. */
export const int = column<number>('int', asIs, Number)
/** Column of integers up to 2^53 - 1. */
export const long = column<number>('long', asIs, Number)
/** Column of integers up to 2^64 - 1. */
export const amount = column<bigint>('amount', String, (value) =>
  typeof value === 'bigint' ? value : BigInt(String(value)),
)
export const bool = column<boolean>('boolean', asIs, Boolean)
export const text = column<string>('text', asIs, String)

/** Makes a column nullable. SQLite returns null as `0x` when it reads bytes as text. */
export function optional<V>({ write, read, ...rest }: Column<V>): Column<V | undefined> {
  return {
    ...rest,
    write: (value) => (value === undefined ? null : write(value)),
    read: (value) => (value === null || value === '0x' ? undefined : read(value)),
  }
}

/** Column of ids of one kind that is called `id` in the database. */
export function ownId<Kind extends string>(): Column<Id<Kind>> & { readonly name: 'id' } {
  return { ...id<Kind>(), name: 'id' }
}

/** Reads bytes that a statement selected with `Dialect.hex`. */
export function hexOfText(value: unknown): Hex {
  assert(isHexText(value), 'ids, addresses and hashes are selected as hexadecimal text')
  return value
}

function idOfText<Kind extends string>(value: unknown): Id<Kind> {
  return hexOfText(value) as Id<Kind>
}

function isHexText(value: unknown): value is Hex {
  return typeof value === 'string' && value.startsWith('0x')
}
