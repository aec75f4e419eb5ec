import type { Output as OutputModel } from '../../generated/prisma/client.ts'
import { passTurn } from '../../lib/turns.ts'
import { outputCodes } from '../../protocol/outputs.ts'
import type { RawWriting } from './statements.ts'

/**
 * Reads of the contents of slots, page by page in the order of an index. The driver of SQLite reads all rows of a statement in one turn
 * of the event loop, and a slot may have any number of rows.
 */

/** Range of slots: `after` is exclusive, `upTo` inclusive. */
export interface SlotRange {
  readonly after: number
  readonly upTo: number
}

/**
 * SQL condition that a block or a transaction is accepted. A negated list, so that the planner uses the index on the slot and not the one
 * on the state, which most rows share.
 */
export const isAccepted = "state NOT IN ('PENDING', 'DROPPED', 'FAILED')"

/** Position of the last row of a page: the values of the columns that order it. */
type Place = readonly (bigint | Uint8Array)[]

/** Yields the pages of a statement. Its parameters are the place after which a page begins, and the last slot. */
export async function* pagesOfSlots<Row>(
  { tx, sql }: RawWriting,
  text: string,
  { upTo, first, placeOf }: { upTo: number; first: Place; placeOf: (row: Row) => Place },
): AsyncGenerator<readonly Row[]> {
  const numbered = sql.numbered(`${text} LIMIT ${rowsPerPage}`)
  for (let after = first; ; ) {
    const page = await tx.$queryRawUnsafe<Row[]>(numbered, ...after, BigInt(upTo))
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < rowsPerPage) return
    after = placeOf(last)
    await passTurn()
  }
}

/** Rows in a page. The thread of SQLite delivers a page in one turn of the event loop, which takes a millisecond or two. */
export const rowsPerPage = 500

/** Yields the outputs that a range of slots creates, in no order. */
export async function* createdInSlots(
  reading: RawWriting,
  range: SlotRange,
): AsyncGenerator<readonly OutputModel[]> {
  const { after, upTo } = range
  const first: Place = [BigInt(after), maxIdBytes]
  const placeOf = ({ bookedSlot, id }: OutputModel) => [bookedSlot, id]
  for (const kind of await createdKinds(reading, range)) {
    yield* pagesOfSlots(reading, createdOf(kind), { upTo, first, placeOf })
  }
}

/** The kinds of the outputs that a range of slots creates, in one statement: most slots of a quiet network create none. */
async function createdKinds(
  { tx, sql }: RawWriting,
  { after, upTo }: SlotRange,
): Promise<readonly number[]> {
  const range = [BigInt(after), BigInt(upTo)]
  const bounds = outputCodes.flatMap(() => range)
  const rows = await tx.$queryRawUnsafe<{ kind: bigint }[]>(
    sql.numbered(createdKindsText),
    ...bounds,
  )
  return rows.map(({ kind }) => Number(kind))
}

/** Yields the outputs that a range of slots spends, in no order. The same slots may have created some of them. */
export function spentInSlots(
  reading: RawWriting,
  { after, upTo }: SlotRange,
): AsyncGenerator<readonly OutputModel[]> {
  const first: Place = [BigInt(after), maxIdBytes]
  const placeOf = ({ spentSlot, id }: OutputModel) => [spentSlot ?? 0n, id]
  return pagesOfSlots(reading, spentText, { upTo, first, placeOf })
}

const createdKindsText = outputCodes
  .map(
    (kind) => `SELECT ${kind} AS kind WHERE EXISTS (
      SELECT 1 FROM outputs WHERE kind = ${kind} AND "bookedSlot" > ? AND "bookedSlot" <= ?)`,
  )
  .join(' UNION ALL ')

const createdOf = (kind: number) => `SELECT * FROM outputs
  WHERE kind = ${kind} AND ("bookedSlot", id) > (?, ?) AND "bookedSlot" <= ? ORDER BY "bookedSlot", id`

const spentText = `SELECT * FROM outputs
  WHERE ("spentSlot", id) > (?, ?) AND "spentSlot" <= ? ORDER BY "spentSlot", id`

/** Greater than every id of an output or a transaction. */
export const maxIdBytes = new Uint8Array(40).fill(255)
