import { createHash } from 'node:crypto'
import { assert, present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SqlConnection } from '../client.ts'
import type { Database } from '../database.ts'
import { tableNames } from '../migrate.ts'
import { recordedMigrations } from '../sql/migration-records.ts'
import { logTable } from '../sql/published.ts'
import type { Table } from '../sql/statements.ts'
import { countRows, countUpdates, logBounds } from '../sql/tables.ts'
import {
  columnOf,
  type ExportedTable,
  type ExportHeader,
  exportFormat,
  exportVersion,
} from './export-format.ts'

/** Reads a whole database as text, as of one moment, while others go on writing. */

/** The database holds no ledger. */
export interface NothingToExport {
  readonly code: 'NOTHING_TO_EXPORT'
}

/** How far an export or import is. */
export interface MoveProgress {
  readonly rows: number
  readonly ofRows: number
}

/** The export was interrupted by its signal. */
export interface ExportInterrupted {
  readonly code: 'EXPORT_INTERRUPTED'
}

/** What an export needs. */
export interface ExportOptions {
  /** Takes one line with its line feed. */
  write(line: string): Promise<void>
  readonly signal: AbortSignal
  onProgress(progress: MoveProgress): void
}

/** Writes every line of an export, one after the other, and gives the rows of the whole. */
export async function exportDatabase(
  database: Database,
  { write, signal, onProgress }: ExportOptions,
): Promise<Result<MoveProgress, NothingToExport | ExportInterrupted>> {
  const connection = await database.connect()
  const { tables: sql } = database
  await sql.beginSnapshot(connection)
  try {
    const tables = inOrder(await sql.tables(connection, tableNames(database.migrations)))
    const hidden = (await sql.hiddenUpTo?.(connection)) ?? 0
    const isSharded = (await sql.isSharded?.(connection)) ?? false
    const header = await headerOf(database, connection, { tables, hidden, isSharded })
    if (header === undefined) return err({ code: 'NOTHING_TO_EXPORT' })
    const ofRows = header.tables.reduce((sum, { rows }) => sum + rows, 0)
    const digest = createHash('sha256')
    let lines = 0
    let rows = 0

    async function put(line: string): Promise<void> {
      digest.update(`${line}\n`)
      lines++
      await write(`${line}\n`)
    }

    await put(JSON.stringify(header))
    for (const table of tables) {
      const kept = { table, hidden, upTo: isSharded ? header.seq : undefined }
      for await (const page of pagesOf(database, connection, kept)) {
        if (signal.aborted) return err({ code: 'EXPORT_INTERRUPTED' })
        await put(`{"table":${JSON.stringify(table.name)},"rows":[${page.join(',')}]}`)
        rows += page.length
        onProgress({ rows, ofRows })
      }
    }
    // Shards have no snapshot: one may lack what is committed, or rows are pruned meanwhile.
    assert(!isSharded || rows === ofRows, 'all rows of the log are in its shards')
    await write(`${JSON.stringify({ lines, digest: `0x${digest.digest('hex')}` })}\n`)
    return ok({ rows, ofRows })
  } finally {
    await sql.endSnapshot(connection)
    await connection.dispose()
  }
}

async function headerOf(
  database: Database,
  connection: SqlConnection,
  { tables, hidden, isSharded }: ToDescribe,
): Promise<ExportHeader | undefined> {
  const logId = await logIdOf(database, connection, tables)
  if (logId === undefined) return undefined
  const { seq, prunedSeq } = await logBounds(connection)
  const described: ExportedTable[] = []
  for (const table of tables) {
    const rows =
      isLog(table) && isSharded
        ? seq - Math.max(prunedSeq, hidden)
        : await countKept(connection, table, hidden)
    described.push({ name: table.name, columns: table.columns.map(({ name }) => name), rows })
  }
  return {
    format: exportFormat,
    version: exportVersion,
    logId,
    seq,
    prunedSeq: Math.max(prunedSeq, hidden),
    migration: (await recordedMigrations(connection)).at(-1)?.name,
    tables: described,
  }
}

interface ToDescribe {
  readonly tables: readonly Table[]
  readonly hidden: number
  readonly isSharded: boolean
}

async function countKept(connection: SqlConnection, table: Table, hidden: number): Promise<number> {
  const pruned = isLog(table) && hidden > 0 ? await countUpdates(connection, hidden) : 0
  return (await countRows(connection, table)) - pruned
}

/** The id of the log; `undefined` before there is a network. */
async function logIdOf(
  database: Database,
  connection: SqlConnection,
  tables: readonly Table[],
): Promise<Hex | undefined> {
  const network = present(
    tables.find(({ name }) => name === 'network'),
    'table network',
  )
  const page = { after: undefined, limit: 1 }
  const [text] = await database.tables.rowsBehind(connection, network, page)
  if (text === undefined) return undefined
  const row: unknown[] = JSON.parse(text)
  return `0x${String(row[columnOf(network, 'logId')])}`
}

/** The log comes last, for an import continues what is kept of given-up rows; the state of an import is no part of a ledger. */
function inOrder(tables: readonly Table[]): Table[] {
  const [former, latter] = [false, true].map((isLast) =>
    tables.filter(({ name }) => isLog({ name }) === isLast && name !== 'imports'),
  )
  return [...(former ?? []), ...(latter ?? [])]
}

function isLog({ name }: Pick<Table, 'name'>): boolean {
  return name === logTable
}

interface KeptRange {
  readonly table: Table
  readonly hidden: number
  /** Rows of the log behind it are newer than the export. */
  readonly upTo: number | undefined
}

/** The rows of a table in pages of about the same length of text. */
async function* pagesOf(
  database: Database,
  connection: SqlConnection,
  { table, hidden, upTo }: KeptRange,
): AsyncGenerator<string[]> {
  const places = table.key.map((name) => columnOf(table, name))
  // Of a log in partitions rows may be there that are pruned.
  let after: readonly string[] | undefined =
    isLog(table) && hidden > 0 ? [String(hidden)] : undefined
  for (let limit = firstPage; ; ) {
    const page = await database.tables.rowsBehind(connection, table, { after, limit })
    if (page.length === 0) return
    if (upTo !== undefined && isLog(table)) {
      const seqAt = columnOf(table, 'seq')
      const older = page.filter((text) => Number(JSON.parse(text)[seqAt]) <= upTo)
      if (older.length > 0) yield older
      if (older.length < page.length) return
    } else yield page
    const row: unknown[] = JSON.parse(page.at(-1) ?? '[]')
    after = places.map((place) => String(row[place]))
    const length = page.reduce((sum, text) => sum + text.length, 0) / page.length
    limit = Math.min(Math.max(Math.floor(pageLength / length), 1), longestPage)
  }
}

const firstPage = 100
const longestPage = 5_000

/** Characters. */
const pageLength = 2_000_000
