import { assert } from '../../lib/assert.ts'
import { type Hex, isHex } from '../../lib/hex.ts'
import type { Column, Table } from '../sql/statements.ts'

/**
 * The text of an export: a line for what it is, lines of rows table by table, a line for its end. Each line is JSON. Rows
 * are arrays in the order of the columns: bytes as hexadecimal digits, whole numbers as text.
 */

/** The first line: what the export holds. */
export interface ExportHeader {
  readonly format: typeof exportFormat
  readonly version: typeof exportVersion
  /** Of the log. */
  readonly logId: Hex
  /** The last position of the log, and the one before its first row, where older rows were removed. */
  readonly seq: number
  readonly prunedSeq: number
  /** The newest migration of the database; exports of the first versions do not name it. */
  readonly migration?: string | undefined
  readonly tables: readonly ExportedTable[]
}

/** A table of an export. */
export interface ExportedTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
}

/** A line of rows, all of one table. */
export interface RowsLine {
  readonly table: string
  readonly rows: readonly Row[]
}

/** The values of a row in the order of its columns; null where there is none. */
export type Row = readonly (string | boolean | null)[]

/** The last line. */
export interface EndLine {
  /** Lines before this one. */
  readonly lines: number
  /** SHA-256 over these lines, each with its line feed. */
  readonly digest: Hex
}

/** What the first line begins with. */
export const exportFormat = 'ledger-gateway-export'

/** Raised when an older program could not read the text. */
export const exportVersion = 1

/** The first line of an export, as far as it is one: other versions have other members. */
export function parseHeader(line: string): ExportHeader | 'NOT_AN_EXPORT' | 'OTHER_VERSION' {
  const header = parseObject(line)
  if (header?.format !== exportFormat) return 'NOT_AN_EXPORT'
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

/** A line after the first one; `undefined` if it is no line of an export. */
export function parseLine(line: string): RowsLine | EndLine | undefined {
  const { table, rows, lines, digest } = parseObject(line) ?? {}
  if (isCount(lines) && typeof digest === 'string' && isHex(digest)) {
    return { lines, digest: `0x${digest.slice(2)}` }
  }
  if (typeof table !== 'string' || !Array.isArray(rows) || !rows.every(isRow)) return undefined
  return { table, rows }
}

/** The index of a column in the rows of a table. */
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

function parseObject(line: string): { readonly [member: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    // The caller reports text that is no JSON.
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
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
