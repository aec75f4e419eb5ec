import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { nextChain, noTip, readTips, type Tips, tipKey } from '../append.ts'
import type { AddressTip, UpdateClass } from '../rows.ts'
import type { Table, Writing } from '../sql/statements.ts'
import { numberToClass } from '../values.ts'
import type { Row } from './export-format.ts'

/** Checks the rows of a log against what is here, by position, ordinal and chain value, as they were made. */

/** A row that does not continue the log, or an address that does not end where its rows do. */
export interface LogBroken {
  readonly code: 'LOG_BROKEN'
  readonly address: Hex
  readonly ordinal: number
}

/** Rows of a table. */
export interface TableRows {
  readonly table: Table
  readonly rows: readonly Row[]
}

/** Lets the log begin where the rows end that were given up before the export. */
export async function beginPruned(writing: Writing, pruned: TableRows): Promise<void> {
  await writing.sql.raiseTips(writing.tx, read(pruned, tipIn))
}

/** Moves the tips of the addresses to these rows, which must continue the log that is here, or begin behind `prunedSeq`. */
export async function continueLog(
  writing: Writing,
  prunedSeq: number,
  added: TableRows,
): Promise<Result<'MORE', LogBroken>> {
  const { tx, sql } = writing
  const newest = await tx.ledgerUpdate.findFirst({ orderBy: { seq: 'desc' } })
  let seq = newest === null ? prunedSeq : Number(newest.seq)
  const updates = read(added, updateIn)
  const tips = new Map<string, AddressTip>(await readTips(writing, addressesOf(updates)))
  for (const update of updates) {
    seq++
    if (update.seq !== seq || !continues(tips, update)) return err(brokenAt(update))
    tips.set(tipKey(update), update)
  }
  const raised = new Map(updates.map((update) => [tipKey(update), update]))
  await sql.raiseTips(tx, [...raised.values()])
  return ok('MORE')
}

/** Whether a row is the next of its address. */
function continues(tips: Tips, update: ImportedUpdate): boolean {
  const { ordinal, chain } = tips.get(tipKey(update)) ?? noTip
  return update.ordinal === ordinal + 1 && update.chain === nextChain(chain, update.slot, update)
}

/** Checks that the addresses stand where the rows have led them. */
export async function checkTips(
  writing: Writing,
  exported: TableRows,
): Promise<Result<'MORE', LogBroken>> {
  const expected = read(exported, tipIn)
  const tips = await readTips(writing, addressesOf(expected))
  for (const tip of expected) {
    const here = tips.get(tipKey(tip))
    if (here?.ordinal !== tip.ordinal || here.chain !== tip.chain) return err(brokenAt(tip))
  }
  return ok('MORE')
}

interface ImportedTip extends AddressTip {
  readonly address: Hex
  readonly class: UpdateClass
}

interface ImportedUpdate extends ImportedTip {
  readonly seq: number
  readonly slot: number
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** A row of the tips, or of the log, which begins with one. */
function tipIn(field: Field): ImportedTip {
  return {
    address: `0x${field('address')}`,
    class: numberToClass(Number(field('class'))),
    ordinal: Number(field('ordinal')),
    chain: `0x${field('chain')}`,
  }
}

function updateIn(field: Field): ImportedUpdate {
  return {
    ...tipIn(field),
    seq: Number(field('seq')),
    slot: Number(field('milestoneIndex')),
    outputId: `0x${field('outputId')}` as OutputId,
    isSpent: field('isSpent') === 'true',
  }
}

type Field = (name: string) => string

/** Every row by the names of its columns. */
function read<T>({ table, rows }: TableRows, rowIn: (field: Field) => T): T[] {
  const places = new Map(table.columns.map(({ name }, place) => [name, place]))
  return rows.map((row) => rowIn((name) => String(row[places.get(name) ?? -1])))
}

function addressesOf(rows: readonly ImportedTip[]): Set<Hex> {
  return new Set(rows.map(({ address }) => address))
}

function brokenAt({ address, ordinal }: ImportedTip): LogBroken {
  return { code: 'LOG_BROKEN', address, ordinal }
}
