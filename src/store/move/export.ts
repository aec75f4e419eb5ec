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

/** Exports a snapshot of a whole database as text, while other connections keep writing. */

/** The database holds no ledger. */
export interface NothingToExport {
  readonly code: 'NOTHING_TO_EXPORT'
}

export interface MoveProgress {
  readonly rows: number
  readonly ofRows: number
}

export interface ExportInterrupted {
  readonly code: 'EXPORT_INTERRUPTED'
}

export interface ExportOptions {
  /** Writes one line, which includes its line feed. */
  write(line: string): Promise<void>
  readonly signal: AbortSignal
  onProgress(progress: MoveProgress): void
}

/** Writes the lines of an export one after the other, and returns the number of rows. */
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
    // Shards have no snapshot: a shard may lack committed rows, or rows may be pruned meanwhile.
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

/** Reads the id of the log. Resolves to `undefined` if the database has no network yet. */
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
  const [text] = await database.tables.rowsAfterKey(connection, network, page)
  if (text === undefined) return undefined
  const row: unknown[] = JSON.parse(text)
  return `0x${String(row[columnOf(network, 'logId')])}`
}

/**
 * Returns the tables in the order of the export. The log comes last, because its import continues the tips of pruned rows. The state of
 * an import is not part of a ledger.
 */
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
  /** Last position of the export, after which rows of the log are newer; `undefined` if the snapshot shows no newer rows. */
  readonly upTo: number | undefined
}

/** Yields the rows of a table in pages of about equal text length. */
async function* pagesOf(
  database: Database,
  connection: SqlConnection,
  { table, hidden, upTo }: KeptRange,
): AsyncGenerator<string[]> {
  const places = table.key.map((name) => columnOf(table, name))
  // A log in partitions may still have pruned rows.
  let after: readonly string[] | undefined =
    isLog(table) && hidden > 0 ? [String(hidden)] : undefined
  for (let limit = firstPage; ; ) {
    const page = await database.tables.rowsAfterKey(connection, table, { after, limit })
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
    limit = Math.min(Math.max(Math.floor(pageLength / length), 1), maxPage)
  }
}

const firstPage = 100
const maxPage = 5_000

/** Target length of a page in characters. */
const pageLength = 2_000_000
