import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Database } from '../connect.ts'
import type { OwnedQuestion } from '../contract.ts'
import { classToNumber } from '../values.ts'

/** The page of the explorer's list, in one statement that both databases understand: it is asked for most of all. */

/** The columns of a row. */
export type OwnedColumns = readonly [
  milestoneIndex: number | bigint,
  outputId: Uint8Array,
  isSpent: number | boolean,
]

/**
 * Rows of an address and the class OWNED; `undefined` where more than `mostSkipped` may lie before the place in its
 * own milestone.
 */
export async function ownedRows(
  ask: Database['ask'],
  { address, order, from, limit }: OwnedQuestion,
): Promise<readonly OwnedColumns[] | undefined> {
  const words = order === 'ascending' ? ascending : descending
  const start = from === undefined ? [] : [from.slot]
  const range = `
    FROM ledger_updates WHERE address = ? AND class = ${classToNumber('OWNED')}
    ${from === undefined ? '' : `AND seq ${words.reaches} (${words.bound})`}
    ORDER BY seq ${words.order} LIMIT ?`
  const key = hexToBytes(address)
  const { outputId, isSpent } = from ?? {}
  if (outputId === undefined || isSpent === undefined || from === undefined) {
    const rows = await ask(`SELECT ${columns} ${range}`, [key, ...start, limit])
    return rows as unknown as readonly OwnedColumns[]
  }
  // The inner limit bounds the work in a milestone that has ever so many rows of the address.
  const most = limit + mostSkipped
  const place = placeOf(outputId)
  const rows = await ask(
    `SELECT ${columns} FROM (SELECT seq, ${columns} ${range}) AS near
    WHERE "milestoneIndex" <> ?
      OR (${placeColumns}, "isSpent") ${words.reaches} (?, ?, ?, ?)
    ORDER BY seq ${words.order} LIMIT ?`,
    [key, ...start, most, from.slot, ...place, isSpent, limit],
  )
  if (rows.length < limit) {
    const beyond = await ask(`SELECT seq ${range} OFFSET ?`, [key, ...start, 1, most])
    if (beyond.length > 0) return undefined
  }
  return rows as unknown as readonly OwnedColumns[]
}

const mostSkipped = 200

const columns = '"milestoneIndex", "outputId", "isSpent"'

/** In the order of places: transaction id, then the index, whose two bytes are turned round. */
const placeColumns =
  'substr("outputId", 1, 36), substr("outputId", 38, 1), substr("outputId", 37, 1)'

function placeOf(outputId: OutputId): readonly Uint8Array[] {
  const bytes = hexToBytes(outputId as Hex)
  return [bytes.subarray(0, 36), bytes.subarray(37, 38), bytes.subarray(36, 37)]
}

/** A slot that is not committed has no bound: nothing of it is there yet. */
const ascending = {
  order: 'ASC',
  reaches: '>=',
  bound: 'SELECT "firstSeq" FROM commitments WHERE slot >= ? ORDER BY slot ASC LIMIT 1',
} as const
const descending = {
  order: 'DESC',
  reaches: '<=',
  bound: 'SELECT "lastSeq" FROM commitments WHERE slot <= ? ORDER BY slot DESC LIMIT 1',
} as const
