import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Result } from '../lib/result.ts'
import type { Database } from '../store/database.ts'
import {
  type ExportInterrupted,
  type ExportOptions,
  exportDatabase,
  type MoveProgress,
  type NothingToExport,
} from '../store/move/export.ts'

/** Writes an export to a stream with backpressure; rejects with the error of the stream. */
export async function writeExport(
  database: Database,
  out: Writable,
  options: Omit<ExportOptions, 'write'>,
): Promise<Result<MoveProgress, NothingToExport | ExportInterrupted>> {
  const broken = new Promise<never>((_, reject) => void out.once('error', reject))
  const write = async (line: string) => {
    if (!out.write(line)) await Promise.race([once(out, 'drain'), broken])
  }
  return Promise.race([exportDatabase(database, { write, ...options }), broken])
}
