import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Parameter } from '../database.ts'
import type { OwnedQuery, OwnedUpdate } from '../rows.ts'
import { classToNumber } from '../values.ts'
import type { Dialect } from './bulk.ts'
import { ownedUpdates } from './bulk-tables.ts'
import { selected } from './columns.ts'
import type { Reading } from './reading.ts'

/** The page of the explorer's list, in one statement that both databases understand: it is read most of all. */

/** A row with its position. */
export type OwnedRow = OwnedUpdate & { readonly seq: number }

/**
 * Reads rows of an address and the class OWNED; `undefined` where more than `mostSkipped` may lie before the place in its
 * own milestone.
 */
export function ownedRead({ query, dialect }: Reading) {
  const pages = ownedStatements(dialect)
  const rows = async (sql: string, parameters: readonly Parameter[]) =>
    (await query(sql, parameters)).map(rowOf)

  return async ({
    address,
    order,
    from,
    limit,
  }: OwnedQuery): Promise<readonly OwnedRow[] | undefined> => {
    const page = pages[order]
    const key = hexToBytes(address)
    if (from === undefined) return rows(page.atEnd, [key, limit])
    if ('seq' in from) return rows(page.atSeq, [key, from.seq, limit])
    const { slot } = from
    if (!('outputId' in from)) return rows(page.atSlot, [key, slot, limit])
    const place = [...placeOf(from.outputId), from.isSpent]
    const found = await rows(page.atPlace, [key, key, slot, mostSkipped, slot, ...place, limit])
    if (found.length > 0) return found
    const beyond = await query(page.beyond, [key, slot, mostSkipped])
    return beyond.length > 0 ? undefined : found
  }
}

/** In the order of `ownedUpdates`. A literal, for a page is read most of all. */
function rowOf([seq, milestoneIndex, outputId, isSpent]: readonly unknown[]): OwnedRow {
  return {
    seq: Number(seq),
    milestoneIndex: Number(milestoneIndex),
    outputId: ownedUpdates.read.outputId(outputId),
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
export function ownedStatements(dialect: Dialect) {
  const read = selected(dialect, ownedUpdates)
  const first = 'SELECT "firstSeq" FROM commitments WHERE slot >= ? ORDER BY slot ASC LIMIT 1'
  const last = 'SELECT "lastSeq" FROM commitments WHERE slot <= ? ORDER BY slot DESC LIMIT 1'
  return {
    ascending: statements(read, 'ASC', '>=', first),
    descending: statements(read, 'DESC', '<=', last),
  }
}

/** Put together once: that costs as much as to read some rows. */
function statements(read: string, order: 'ASC' | 'DESC', reaches: '>=' | '<=', bound: string) {
  const near = `${ofAddress} AND seq ${reaches} (${bound}) ORDER BY seq ${order} LIMIT`
  return {
    atEnd: `SELECT ${read} ${ofAddress} ORDER BY seq ${order} LIMIT ?`,
    atSeq: `SELECT ${read} ${ofAddress} AND seq ${reaches} ? ORDER BY seq ${order} LIMIT ?`,
    atSlot: `SELECT ${read} ${near} ?`,
    // The place is found first, so that the page is then read as plainly as one without a place. The inner limit bounds
    // the work in a milestone that has ever so many rows of the address.
    atPlace: `SELECT ${read} ${ofAddress} AND seq ${reaches} (
        SELECT seq FROM (SELECT ${columns} ${near} ?) AS near
        WHERE "milestoneIndex" <> ? OR (${placeColumns}, "isSpent") ${reaches} (?, ?, ?, ?)
        ORDER BY seq ${order} LIMIT 1)
      ORDER BY seq ${order} LIMIT ?`,
    beyond: `SELECT seq ${near} 1 OFFSET ?`,
  }
}
