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

/** Rows of an export of a log that begins behind `prunedSeq`. */
export interface LogRows {
  readonly table: Table
  readonly rows: readonly Row[]
  readonly prunedSeq: number
}

/** Moves the tips of the addresses to these rows, which must continue the log that is here. */
export async function continueLog(
  writing: Writing,
  lines: LogRows,
): Promise<Result<'MORE', LogBroken>> {
  const { tx, sql } = writing
  const { prunedSeq } = lines
  const newest = await tx.ledgerUpdate.findFirst({ orderBy: { seq: 'desc' } })
  let seq = newest === null ? prunedSeq : Number(newest.seq)
  const updates = read(lines, updateIn)
  const tips = new Map<string, AddressTip>(await readTips(writing, addressesOf(updates)))
  for (const update of updates) {
    seq++
    if (update.seq !== seq || !continues(tips, update, prunedSeq)) return err(brokenAt(update))
    tips.set(tipKey(update), update)
  }
  const raised = new Map(updates.map((update) => [tipKey(update), update]))
  await sql.raiseTips(tx, [...raised.values()])
  return ok('MORE')
}

/** Whether a row is the next of its address. What came before the first row of a pruned log, nobody knows. */
function continues(tips: Tips, update: ImportedUpdate, prunedSeq: number): boolean {
  const former = tips.get(tipKey(update))
  if (former === undefined && update.ordinal > 1) return prunedSeq > 0
  const { ordinal, chain } = former ?? noTip
  return update.ordinal === ordinal + 1 && update.chain === nextChain(chain, update.slot, update)
}

/** Of the tips of an export those that no row here has made; the others must be as the rows have made them. */
export async function missingTips(
  writing: Writing,
  lines: LogRows,
): Promise<Result<readonly Row[], LogBroken>> {
  const exported = read(lines, tipIn)
  const tips = await readTips(writing, addressesOf(exported))
  const missing: Row[] = []
  for (const [i, tip] of exported.entries()) {
    const here = tips.get(tipKey(tip))
    if (here === undefined && lines.prunedSeq > 0) missing.push(...lines.rows.slice(i, i + 1))
    else if (here?.ordinal !== tip.ordinal || here.chain !== tip.chain) return err(brokenAt(tip))
  }
  return ok(missing)
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
function read<T>({ table, rows }: LogRows, rowIn: (field: Field) => T): T[] {
  const places = new Map(table.columns.map(({ name }, place) => [name, place]))
  return rows.map((row) => rowIn((name) => String(row[places.get(name) ?? -1])))
}

function addressesOf(rows: readonly ImportedTip[]): Set<Hex> {
  return new Set(rows.map(({ address }) => address))
}

function brokenAt({ address, ordinal }: ImportedTip): LogBroken {
  return { code: 'LOG_BROKEN', address, ordinal }
}
