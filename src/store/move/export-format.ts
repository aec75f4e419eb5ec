import { assert } from '../../lib/assert.ts'
import { type Hex, isHex } from '../../lib/hex.ts'
import { isCount, membersOf, parsedJson } from '../../lib/json.ts'
import type { Column, Table } from '../sql/statements.ts'

/**
 * Text format of an export: a header line, lines of rows table by table, and an end line. Each line is JSON. Rows are arrays in the
 * order of the columns. Bytes are hexadecimal digits, integers are text.
 */

/** First line: the contents of the export. */
export interface ExportHeader {
  readonly format: typeof exportFormat
  readonly version: typeof exportVersion
  readonly logId: Hex
  /** Last position of the log. */
  readonly seq: number
  /** Last pruned position, before the first row of the log. */
  readonly prunedSeq: number
  /** Newest migration of the database. Exports of the first versions lack it. */
  readonly migration?: string | undefined
  readonly tables: readonly ExportedTable[]
}

export interface ExportedTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
}

export interface RowsLine {
  readonly table: string
  readonly rows: readonly Row[]
}

/** Values of a row in the order of its columns. A missing value is null. */
export type Row = readonly (string | boolean | null)[]

export interface EndLine {
  /** Number of lines before this one. */
  readonly lines: number
  /** SHA-256 over those lines, each with its line feed. */
  readonly digest: Hex
}

/** Value of `format` in the header. */
export const exportFormat = 'ledger-gateway-export'

/** Version of the format. It increases when an older program could not read the text. */
export const exportVersion = 1

/** Parses the header line. It checks the version before the other members, which differ between versions. */
export function parseHeader(line: string): ExportHeader | 'NOT_AN_EXPORT' | 'OTHER_VERSION' {
  const header = membersOf(parsedJson(line))
  if (header.format !== exportFormat) return 'NOT_AN_EXPORT'
  if (header.version !== exportVersion) return 'OTHER_VERSION'
  const { logId, seq, prunedSeq, migration, tables } = header
  if (typeof logId !== 'string' || !isHex(logId)) return 'NOT_AN_EXPORT'
  if (!isCount(seq) || !isCount(prunedSeq)) return 'NOT_AN_EXPORT'
  if (!Array.isArray(tables) || !tables.every(isExportedTable)) return 'NOT_AN_EXPORT'
  return {
    format: exportFormat,
    version: exportVersion,
    logId: `0x${logId.slice(2)}`,
    seq,
    prunedSeq,
    migration: typeof migration === 'string' ? migration : undefined,
    tables,
  }
}

/** Parses a line after the header. Returns `undefined` if it is not a line of an export. */
export function parseLine(line: string): RowsLine | EndLine | undefined {
  const { table, rows, lines, digest } = membersOf(parsedJson(line))
  if (isCount(lines) && typeof digest === 'string' && isHex(digest)) {
    return { lines, digest: `0x${digest.slice(2)}` }
  }
  if (typeof table !== 'string' || !Array.isArray(rows) || !rows.every(isRow)) return undefined
  return { table, rows }
}

/** Returns the index of a column in the rows of a table. */
export function columnOf(table: Pick<Table, 'name' | 'columns'>, name: string): number {
  const place = table.columns.findIndex((column) => column.name === name)
  assert(place >= 0, `table ${table.name} has a column ${name}`)
  return place
}

/** Whether every row has a value of the right kind for every column. */
export function rowsFit(rows: readonly Row[], { columns }: Table): boolean {
  return rows.every(
    (row) =>
      row.length === columns.length && row.every((value, i) => valueFits(value, columns[i]?.kind)),
  )
}

function valueFits(value: Row[number], kind: Column['kind'] | undefined): boolean {
  if (value === null) return true
  switch (kind) {
    case 'bytes':
      return typeof value === 'string' && /^([0-9a-f]{2})*$/.test(value)
    case 'integer':
      return typeof value === 'string' && /^-?[0-9]{1,19}$/.test(value)
    case 'text':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case undefined:
      return false
  }
}

function isRow(value: unknown): value is Row {
  return (
    Array.isArray(value) &&
    value.every((item) => item === null || typeof item === 'string' || typeof item === 'boolean')
  )
}

function isExportedTable(value: unknown): value is ExportedTable {
  if (typeof value !== 'object' || value === null) return false
  const { name, columns, rows }: { name?: unknown; columns?: unknown; rows?: unknown } = value
  const isNamed = typeof name === 'string' && Array.isArray(columns)
  return isNamed && columns.every((column) => typeof column === 'string') && isCount(rows)
}
