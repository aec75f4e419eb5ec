import { assert } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Database } from '../database.ts'
import type { OwnedQuery, OwnedUpdate } from '../rows.ts'
import { classToNumber, idFromBytes } from '../values.ts'

/** The page of the explorer's list, in one statement that both databases understand: it is read most of all. */

/** A row with its position. */
export type OwnedRow = OwnedUpdate & { readonly seq: number }

/**
 * Rows of an address and the class OWNED; `undefined` where more than `mostSkipped` may lie before the place in its
 * own milestone.
 */
export async function ownedRows(
  ask: Database['query'],
  { address, order, from, limit }: OwnedQuery,
): Promise<readonly OwnedRow[] | undefined> {
  const page = ownedStatements[order]
  const key = hexToBytes(address)
  if (from === undefined) return rowsOf(await ask(page.atEnd, [key, limit]))
  if ('seq' in from) return rowsOf(await ask(page.atSeq, [key, from.seq, limit]))
  const { slot } = from
  if (!('outputId' in from)) return rowsOf(await ask(page.atSlot, [key, slot, limit]))
  const place = [...placeOf(from.outputId), from.isSpent]
  const rows = await ask(page.atPlace, [key, key, slot, mostSkipped, slot, ...place, limit])
  if (rows.length === 0) {
    const beyond = await ask(page.beyond, [key, slot, mostSkipped])
    if (beyond.length > 0) return undefined
  }
  return rowsOf(rows)
}

function rowsOf(rows: Awaited<ReturnType<Database['query']>>): readonly OwnedRow[] {
  return rows.map(rowOf)
}

/** In the order of `columns`; the databases differ in how they give whole numbers and truth. */
function rowOf([seq, milestoneIndex, outputId, isSpent]: readonly unknown[]): OwnedRow {
  assert(outputId instanceof Uint8Array, 'the id of an output is bytes')
  return {
    seq: Number(seq),
    milestoneIndex: Number(milestoneIndex),
    outputId: idFromBytes(outputId),
    isSpent: Boolean(isSpent),
  }
}

/** So many rows of a milestone are passed over to find a place in it. */
export const mostSkipped = 200

function placeOf(outputId: OutputId): readonly Uint8Array[] {
  const bytes = hexToBytes(outputId as Hex)
  return [bytes.subarray(0, 36), bytes.subarray(37, 38), bytes.subarray(36, 37)]
}

const columns = 'seq, "milestoneIndex", "outputId", "isSpent"'
const ofAddress = `FROM ledger_updates WHERE address = ? AND class = ${classToNumber('OWNED')}`

/** In the order of places: transaction id, then the index, whose two bytes are turned round. */
const placeColumns =
  'substr("outputId", 1, 36), substr("outputId", 38, 1), substr("outputId", 37, 1)'

/**
 * The pages in both orders, and how one learns of more rows beyond those passed over. A slot that is not committed has no
 * bound: nothing of it is there yet.
 */
export const ownedStatements = {
  ascending: statements(
    'ASC',
    '>=',
    'SELECT "firstSeq" FROM commitments WHERE slot >= ? ORDER BY slot ASC LIMIT 1',
  ),
  descending: statements(
    'DESC',
    '<=',
    'SELECT "lastSeq" FROM commitments WHERE slot <= ? ORDER BY slot DESC LIMIT 1',
  ),
}

/** Written once: to put them together again costs as much as to read some rows. */
function statements(order: 'ASC' | 'DESC', reaches: '>=' | '<=', bound: string) {
  const near = `${ofAddress} AND seq ${reaches} (${bound}) ORDER BY seq ${order} LIMIT`
  return {
    atEnd: `SELECT ${columns} ${ofAddress} ORDER BY seq ${order} LIMIT ?`,
    atSeq: `SELECT ${columns} ${ofAddress} AND seq ${reaches} ? ORDER BY seq ${order} LIMIT ?`,
    atSlot: `SELECT ${columns} ${near} ?`,
    // The place is found first, so that the page is then read as plainly as one without a place. The inner limit bounds
    // the work in a milestone that has ever so many rows of the address.
    atPlace: `SELECT ${columns} ${ofAddress} AND seq ${reaches} (
        SELECT seq FROM (SELECT ${columns} ${near} ?) AS near
        WHERE "milestoneIndex" <> ? OR (${placeColumns}, "isSpent") ${reaches} (?, ?, ?, ?)
        ORDER BY seq ${order} LIMIT 1)
      ORDER BY seq ${order} LIMIT ?`,
    beyond: `SELECT seq ${near} 1 OFFSET ?`,
  }
}
