import { createHash } from 'node:crypto'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { type LeaseLost, longestLeaseMs } from '../contract/lease.ts'
import type { Database } from '../database.ts'
import type { Writing } from '../sql/statements.ts'
import type { MoveProgress } from './export.ts'
import { type EndLine, parseLine } from './export-format.ts'
import {
  type ImportTarget,
  isComplete,
  openTarget,
  type RowsRefused,
  writeRows,
} from './import-rows.ts'
import { beginNewLog } from './new-log.ts'

/**
 * Writes an export into an empty database, with one transaction per line. Each transaction also stores the progress, so that an
 * interrupted import continues when it reads the same export again.
 */

/** Reason for the end of an import. Written rows stay, but they are not a ledger before an import has finished. */
export type ImportError =
  | DatabaseNotEmpty
  | ExportUnusable
  | RowsRefused
  | ImportInterrupted
  | LeaseLost

/** The database already has a ledger. */
export interface DatabaseNotEmpty {
  readonly code: 'DATABASE_NOT_EMPTY'
}

/** The text cannot be imported. */
export interface ExportUnusable {
  readonly code: 'EXPORT_UNUSABLE'
  /** Number of the line, from 1. */
  readonly line: number
  readonly reason: ExportFault
}

export type ExportFault =
  | 'NOT_AN_EXPORT'
  | 'OTHER_VERSION'
  /** The program that wrote the export had other tables. */
  | 'TABLES_DIFFER'
  | 'LINE_MALFORMED'
  | 'DAMAGED'
  | 'ROWS_MISSING'
  | 'ENDED_EARLY'
  /** The database has the beginning of another export. */
  | 'NOT_THE_ONE_BEGUN'

export interface ImportInterrupted {
  readonly code: 'IMPORT_INTERRUPTED'
}

export interface ImportOptions {
  /** Lines of the export, without line feeds. */
  readonly lines: AsyncIterable<string>
  /** Term of the lease, which every line renews. */
  readonly term: number
  readonly signal: AbortSignal
  /** KEPT if the ledger moves to another database. NEW if it is restored, because it may lack what followers of the old log have. */
  readonly logId: 'KEPT' | 'NEW'
  onProgress(progress: MoveProgress): void
}

/** Imports the lines that are not in the database yet, and returns the number of rows of the export. */
export async function importDatabase(
  database: Database,
  { lines, term, signal, logId, onProgress }: ImportOptions,
): Promise<Result<MoveProgress, ImportError>> {
  const { writer } = database
  const begun = await writer.import.findUnique({ where: { id: 1n } })
  const isTaken = (await writer.network.count()) > 0 || (await receivesSnapshot(database))
  if (begun === null && isTaken) {
    return err({ code: 'DATABASE_NOT_EMPTY' })
  }
  const former = { lines: Number(begun?.lines ?? 0), digest: bytesToHex(begun?.digest ?? none) }
  const importer = createImporter(database, { term, logId, former })
  for await (const line of lines) {
    if (signal.aborted) return err({ code: 'IMPORT_INTERRUPTED' })
    const taken = await importer.take(line)
    if (!taken.ok) return taken
    onProgress(importer.progress())
    if (taken.value === 'ENDED') return ok(importer.progress())
  }
  // When the process is asked to stop, standard input ends as well.
  return signal.aborted ? err({ code: 'IMPORT_INTERRUPTED' }) : importer.unusable('ENDED_EARLY')
}

const none = new Uint8Array(0)

/** Whether the import of a ledger snapshot has started. A database with the tables of an earlier version has no table for it. */
async function receivesSnapshot({ query, writer }: Database): Promise<boolean> {
  const migration = `SELECT 1 FROM _prisma_migrations WHERE migration_name LIKE '%_snapshot_progress'`
  const hasPlace = (await query(migration, [])).length > 0
  return hasPlace && (await writer.snapshotProgress.count()) > 0
}

interface Importing extends Pick<ImportOptions, 'term' | 'logId'> {
  readonly former: EndLine
}

/** Creates the importer of an export. It receives all lines, of which the database has the first `former.lines` already. */
function createImporter(database: Database, { term, logId, former }: Importing) {
  const digest = createHash('sha256')
  let target: ImportTarget | undefined
  let line = 0
  let rows = 0

  async function take(text: string): Promise<Result<'MORE' | 'ENDED', ImportError>> {
    line++
    if (target === undefined) {
      const opened = await openTarget(database, text)
      if (typeof opened === 'string') return unusable(opened)
      target = opened
      return keep(text, async () => ok('MORE'))
    }
    const parsed = parseLine(text)
    if (parsed === undefined) return unusable('LINE_MALFORMED')
    if ('digest' in parsed) return end(target, parsed)
    const into = target
    rows += parsed.rows.length
    return keep(text, (writing) => writeRows(writing, into, parsed))
  }

  /** Writes a line and stores the progress, unless the database has the line already. */
  async function keep(
    text: string,
    write: (writing: Writing) => Promise<Result<'MORE', RowsRefused>>,
  ): Promise<Result<'MORE', ImportError>> {
    digest.update(`${text}\n`)
    if (line < former.lines) return ok('MORE')
    if (line === former.lines) {
      return digestNow() === former.digest ? ok('MORE') : unusable('NOT_THE_ONE_BEGUN')
    }
    return step(database, term, async (writing) => {
      const written = await write(writing)
      if (written.ok) await noteProgress(writing, line, digest.copy().digest())
      return written
    })
  }

  async function end(into: ImportTarget, stated: EndLine): Promise<Result<'ENDED', ImportError>> {
    if (stated.lines !== line - 1 || stated.digest !== digestNow()) return unusable('DAMAGED')
    if (!(await isComplete(database, into))) return unusable('ROWS_MISSING')
    return finishImport(database, into, { term, logId })
  }

  function digestNow(): Hex {
    return bytesToHex(digest.copy().digest())
  }

  function unusable(reason: ExportFault): Result<never, ExportUnusable> {
    return err({ code: 'EXPORT_UNUSABLE', line, reason })
  }

  return { take, unusable, progress: () => ({ rows, ofRows: target?.ofRows ?? 0 }) }
}

/** Deletes the progress of an import whose rows are complete. From then on, the database is a ledger. */
async function finishImport(
  database: Database,
  { tables }: ImportTarget,
  { term, logId }: Pick<ImportOptions, 'term' | 'logId'>,
): Promise<Result<'ENDED', LeaseLost>> {
  await database.statements.gatherStatistics(database.raw)
  return step(database, term, async ({ tx }) => {
    await tx.import.deleteMany()
    // The export may come from a log in shards, or from a version without this table.
    if (tables.has('published_tip')) await tx.publishedTip.updateMany({ data: { isApart: false } })
    if (logId === 'NEW') await beginNewLog(tx)
    return ok('ENDED')
  })
}

/** Stores the number of imported lines and their digest. */
async function noteProgress(
  { tx }: Writing,
  lineCount: number,
  digest: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const progress = { lines: BigInt(lineCount), digest }
  await tx.import.upsert({
    where: { id: 1n },
    create: { id: 1n, ...progress },
    update: progress,
  })
}

/** Runs work in one transaction that renews the lease. */
function step<T, E>(
  { writer, statements: sql }: Database,
  term: number,
  work: (writing: Writing) => Promise<Result<T, E>>,
): Promise<Result<T, E | LeaseLost>> {
  return writer.$transaction(
    async (tx) => {
      await sql.beginWriting(tx)
      const isHeld = await sql.prolongLease(tx, term, longestLeaseMs)
      return isHeld ? work({ tx, sql }) : err({ code: 'LEASE_LOST', term })
    },
    { timeout: stepTimeoutMs },
  )
}

/** Timeout of the transaction of a line, which may have some megabytes. */
const stepTimeoutMs = 120_000
