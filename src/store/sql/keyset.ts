import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { Between, PageOrder, Position } from '../contract/list.ts'
import type { Parameter } from '../database.ts'
import { comparePositions } from '../positions.ts'
import { digits } from '../values.ts'
import { type BulkColumn, type Dialect, type JsonValue, namesOf } from './bulk.ts'
import { type ReadTable, selected } from './columns.ts'
import { scanOfAddress } from './log-scans.ts'
import { logTable, publishedTable } from './published.ts'
import type { Reading } from './reading.ts'

/** Keyset pagination in SQL that both databases understand: every page is a scan of an index. */

/** Index whose leading columns are compared for equality, and whose other columns are the order of the pages. */
export interface KeysetIndex<Row> {
  readonly table: ReadTable<never, Row>
  /** Table that has the index. The last column of `order` is the key of `table`. */
  readonly name: string
  readonly equal: readonly BulkColumn[]
  readonly order: readonly BulkColumn[]
  /** Key column of `table`. */
  readonly key: BulkColumn
  /** Column of the table with the index that must be true. The scan checks it row by row. */
  readonly only?: string
  /** Returns the position of a row in the order. */
  positionOf(row: Row): Position
}

/** Range of the index. Ranges with the same page number are merged into one page. */
export interface KeysetScan extends Between {
  readonly page: number
  /** Values of the columns `equal`. */
  readonly equal: readonly Value[]
}

/** Value of a column. A string is the value of a text column, or the hexadecimal text of bytes. */
type Value = number | bigint | string

/** Reads pages, by page number. */
export type ReadPages<Row> = (
  scans: readonly KeysetScan[],
  page: PageOrder,
) => Promise<ReadonlyMap<number, Row[]>>

/** Creates the reads of an index. One scan is one statement. Several scans are two: one reads all positions, one the rows of the pages. */
export function keysetPages<Row>(reading: Reading, index: KeysetIndex<Row>): ReadPages<Row> {
  const { query, dialect } = reading
  const { table, order: columns, positionOf } = index
  const parameters = parameterColumns(index)
  const texts = {
    ascending: textsOf(dialect, index, 'ASC'),
    descending: textsOf(dialect, index, 'DESC'),
  }

  async function scanOne(scan: KeysetScan, { order, limit }: PageOrder) {
    const given = boundsOf(scan).map((value, i) => parameterOf(value, parameters[i + 1]))
    const rows = await query(texts[order].one, [...given, limit])
    return rows.map(table.rowOf)
  }

  async function scanMany(scans: readonly KeysetScan[], { order, limit }: PageOrder) {
    const given = scans.map((scan, n) =>
      [n, ...boundsOf(scan)].map((value, i) => jsonOf(value, parameters[i])),
    )
    const found = await query(texts[order].many, [dialect.json(parameters, given), limit])
    const pages = new Map<number, Position[]>()
    for (const [n, text] of found) {
      const { page } = present(scans[Number(n)], 'scan')
      const ofPage = pages.get(page) ?? []
      pages.set(page, ofPage)
      if (text !== null)
        for (const one of String(text).split(',')) ofPage.push(positionIn(one, columns))
    }
    const sign = order === 'ascending' ? 1 : -1
    for (const positions of pages.values()) {
      positions.sort((a, b) => sign * comparePositions(a, b)).splice(limit)
    }
    return await rowsOf(pages)
  }

  async function rowsOf(pages: ReadonlyMap<number, Position[]>) {
    const keys = new Set([...pages.values()].flat().map((position) => keyOf(position)))
    const json = dialect.json(
      [index.key],
      [...keys].map((key) => [jsonOf(key, index.key)]),
    )
    const rows = keys.size === 0 ? [] : (await query(texts.ascending.rows, [json])).map(table.rowOf)
    const rowByKey = new Map(rows.map((row) => [keyOf(positionOf(row)), row]))
    const found = [...pages].map(([page, positions]) => {
      const rowsOfPage = positions.flatMap((position) => rowByKey.get(keyOf(position)) ?? [])
      return [page, rowsOfPage] as const
    })
    return new Map(found)
  }

  return async (scans, page) => {
    const [only] = scans
    if (only === undefined) return new Map()
    return scans.length === 1
      ? new Map([[only.page, await scanOne(only, page)]])
      : await scanMany(scans, page)
  }
}

function boundsOf({ equal, above, below }: KeysetScan): readonly Value[] {
  return [...equal, ...above, ...equal, ...below]
}

function keyOf(position: Position): Position[number] {
  return present(position.at(-1), 'key')
}

/**
 * The statements of an index. The columns `equal` are part of the bounds, so that no other index seems cheaper: when PostgreSQL expects
 * many equal rows, it uses an index on the order alone and filters.
 */
function textsOf<Row>(dialect: Dialect, index: KeysetIndex<Row>, direction: 'ASC' | 'DESC') {
  const { table, name, equal, order, key, only } = index
  const bounds = [...equal, ...order]
  // Qualified with the table, because a column selected as text keeps the name of the column.
  const names = bounds.map((column) => `${name}."${column.name}"`)
  const columns = names.length === 1 ? names.join() : `(${names.join(', ')})`
  const filter = only === undefined ? '' : ` AND ${name}."${only}" = true`
  const inOrder = names.map((one) => `${one} ${direction}`).join(', ')
  const within = (from: readonly string[], to: readonly string[]) =>
    `${columns} > (${from.join(', ')}) AND ${columns} < (${to.join(', ')})${filter} ORDER BY ${inOrder}`
  const places = bounds.map(placeholder)
  const given = parameterColumns(index)
  const asked = given.map((column) => withoutAffinity(`asked."${column.name}"`, column))
  const half = 1 + bounds.length
  const page = `SELECT ${namesOf(order)} FROM ${publishedTable(name)}
    WHERE ${within(asked.slice(1, half), asked.slice(half))} LIMIT ?2`
  const position = order.map((column) => textOf(dialect, column)).join(` || '.' || `)
  const manyOf = (one: string) => `WITH asked AS (SELECT * FROM ${dialect.given(given)})
      SELECT n, (SELECT string_agg(${position}, ',') FROM (${one}) AS page) FROM asked`
  if (dialect.shards !== undefined && name === logTable) {
    const keys = `SELECT "${key.name}" FROM ${dialect.given([key])}`
    return {
      one: `SELECT ${selected(dialect, table)} ${shardedScan(dialect, direction, placesOfOne)}`,
      many: manyOf(`SELECT ${namesOf(order)} ${shardedScan(dialect, direction, placesOfMany)}`),
      rows: `SELECT ${selected(dialect, table)} ${dialect.shards.atPositions(keys)}`,
    }
  }
  return {
    one: `SELECT ${selected(dialect, table)} FROM ${joinOf(index)} WHERE ${within(places, places)} LIMIT ?`,
    many: manyOf(page),
    rows: `SELECT ${selected(dialect, table)} FROM ${publishedTable(table.name)}
      WHERE "${key.name}" IN (SELECT "${key.name}" FROM ${dialect.given([key])})`,
  }
}

/** SQL of the transactions of an address in a log in shards. Both bounds contain the address and class. */
function shardedScan(
  dialect: Dialect,
  direction: 'ASC' | 'DESC',
  [address, of, above, sameAddress, sameClass, below, limit]: ShardedPlaces,
): string {
  return scanOfAddress(dialect, {
    ...{ address, class: of, from: `> ${above}`, to: `< ${below}`, direction, limit },
    isLastOfTransaction: true,
    where: `${sameAddress} = ${address} AND ${sameClass} = ${of}`,
  })
}

type ShardedPlaces = readonly [string, string, string, string, string, string, string]

const placesOfOne: ShardedPlaces = [
  ...(['?1::bytea', '?2::int', '?3', '?4::bytea', '?5::int', '?6', '?7'] as const),
]
const placesOfMany: ShardedPlaces = [
  ...(['asked."a0"', 'asked."a1"', 'asked."a2"', 'asked."b0"', 'asked."b1"'] as const),
  ...(['asked."b2"', '?2'] as const),
]

/** The table with the index, joined with the table of the rows if they differ. */
function joinOf<Row>({ table, name, order, key }: KeysetIndex<Row>): string {
  const last = present(order.at(-1), 'column').name
  return name === table.name
    ? publishedTable(name)
    : `${name} JOIN ${publishedTable(table.name)} ON ${table.name}."${key.name}" = ${name}."${last}"`
}

/** The columns of the parameter: number of the scan, lower bound, upper bound. */
function parameterColumns<Row>({ equal, order }: KeysetIndex<Row>): readonly BulkColumn[] {
  const bounds = [...equal, ...order]
  return [
    { name: 'n', type: 'int' },
    ...bounds.map(({ type }, i) => ({ type, name: `a${i}` })),
    ...bounds.map(({ type }, i) => ({ type, name: `b${i}` })),
  ]
}

/** Amounts are passed as text because they may exceed 2^53. */
function placeholder(column: BulkColumn): string {
  return withoutAffinity(column.type === 'amount' ? 'CAST(? AS BIGINT)' : '?', column)
}

/** SQLite uses an index for a row value only up to the first value with a type affinity. A sum has none. */
function withoutAffinity(value: string, { type }: BulkColumn): string {
  return type === 'amount' ? `${value} + 0` : value
}

function textOf(dialect: Dialect, { name, type }: BulkColumn): string {
  return type === 'bytes' ? `(${dialect.hex(`"${name}"`)})` : `CAST("${name}" AS TEXT)`
}

function parameterOf(value: Value, column: BulkColumn | undefined): Parameter {
  if (typeof value === 'bigint') return String(value)
  return column?.type === 'bytes' ? hexToBytes(value as Hex) : value
}

function jsonOf(value: Value, column: BulkColumn | undefined): JsonValue {
  if (typeof value === 'bigint') return String(value)
  return column?.type === 'bytes' ? digits(value as Hex) : value
}

function positionIn(text: string, columns: readonly BulkColumn[]): Position {
  return text.split('.').map((part, i) => {
    const type = columns[i]?.type
    if (type === 'bytes') return part as Hex
    return type === 'amount' ? BigInt(part) : Number(part)
  })
}
