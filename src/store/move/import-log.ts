import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { AddressTip, UpdateClass } from '../rows.ts'
import type { Table, Writing } from '../sql/statements.ts'
import { numberToClass } from '../values.ts'
import { nextHistoryHash, noTip, readTips, tipKey } from '../write/append.ts'
import type { Row } from './export-format.ts'

/** Checks that imported rows continue the log in the database, by position, ordinal and history hash. */

/** An imported row does not continue the log. */
export interface LogBroken {
  readonly code: 'LOG_BROKEN'
  readonly address: Hex
  readonly ordinal: number
}

export interface TableRows {
  readonly table: Table
  readonly rows: readonly Row[]
}

/** Checks that rows continue the log in the database, or begin it after `prunedSeq`. The rows are not written yet. */
export async function continueLog(
  writing: Writing,
  prunedSeq: number,
  added: TableRows,
): Promise<Result<'MORE', LogBroken>> {
  const newest = await writing.tx.ledgerUpdate.findFirst({
    orderBy: { seq: 'desc' },
    // Selects no other column: the table may have the columns of an earlier version.
    select: { seq: true },
  })
  let seq = newest === null ? prunedSeq : Number(newest.seq)
  const updates = updatesIn(added)
  const tips: Map<string, AddressTip> = new Map(await readTips(writing, updates))
  for (const update of updates) {
    seq++
    if (update.seq !== seq || !continues(tips, update)) return err(brokenAt(update))
    tips.set(tipKey(update), update)
  }
  return ok('MORE')
}

/** Whether a row is the next row of its address and class. */
function continues(tips: ReadonlyMap<string, AddressTip>, update: ImportedUpdate): boolean {
  const { ordinal, historyHash } = tips.get(tipKey(update)) ?? noTip
  return (
    update.ordinal === ordinal + 1 &&
    update.historyHash === nextHistoryHash(historyHash, update.slot, update)
  )
}

interface ImportedUpdate extends AddressTip {
  readonly address: Hex
  readonly class: UpdateClass
  readonly seq: number
  readonly slot: number
  readonly outputId: OutputId
  readonly isSpent: boolean
}

function updateIn(field: (name: string) => string): ImportedUpdate {
  return {
    address: `0x${field('address')}`,
    class: numberToClass(Number(field('class'))),
    ordinal: Number(field('ordinal')),
    historyHash: `0x${field('historyHash')}`,
    seq: Number(field('seq')),
    slot: Number(field('milestoneIndex')),
    outputId: `0x${field('outputId')}` as OutputId,
    isSpent: field('isSpent') === 'true',
  }
}

/** Converts rows to updates by the names of their columns. */
function updatesIn({ table, rows }: TableRows): ImportedUpdate[] {
  const places = new Map(table.columns.map(({ name }, place) => [name, place]))
  return rows.map((row) => updateIn((name) => String(row[places.get(name) ?? -1])))
}

function brokenAt({ address, ordinal }: ImportedUpdate): LogBroken {
  return { code: 'LOG_BROKEN', address, ordinal }
}
