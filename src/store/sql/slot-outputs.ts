import type { Output as OutputModel } from '../../generated/prisma/client.ts'
import { passTurn } from '../../lib/turns.ts'
import { Output } from '../../protocol/outputs.ts'
import type { RawWriting } from './statements.ts'

/**
 * What some slots hold, page by page in the order of an index: the driver of SQLite reads all rows of a statement in one turn of the
 * event loop, and a slot may have any number of them.
 */

/** Slots after one up to another. */
export interface SlotRange {
  readonly after: number
  readonly upTo: number
}

/** Where a page ends: the values of the columns that order it. */
type Place = readonly (bigint | Uint8Array)[]

/** The rows of a statement that takes a place, the last slot, and gives a page behind the place. */
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

/** A millisecond or two. A page comes from the thread of SQLite in one turn. */
export const rowsPerPage = 500

/** Outputs that some slots create, in no order. */
export async function* createdInSlots(
  reading: RawWriting,
  { after, upTo }: SlotRange,
): AsyncGenerator<readonly OutputModel[]> {
  const first: Place = [BigInt(after), greatestId]
  const placeOf = ({ bookedSlot, id }: OutputModel) => [bookedSlot, id]
  for (const kind of kinds) yield* pagesOfSlots(reading, createdOf(kind), { upTo, first, placeOf })
}

/** Outputs that some slots spend, in no order; some may be among those that they create. */
export function spentInSlots(
  reading: RawWriting,
  { after, upTo }: SlotRange,
): AsyncGenerator<readonly OutputModel[]> {
  const first: Place = [BigInt(after), greatestId]
  const placeOf = ({ spentSlot, id }: OutputModel) => [spentSlot ?? 0n, id]
  return pagesOfSlots(reading, spentText, { upTo, first, placeOf })
}

/** The index of the created ones begins with the kind. */
const kinds = Output.variants.map(({ code }) => code)

const createdOf = (kind: number) => `SELECT * FROM outputs
  WHERE kind = ${kind} AND ("bookedSlot", id) > (?, ?) AND "bookedSlot" <= ? ORDER BY "bookedSlot", id`

const spentText = `SELECT * FROM outputs
  WHERE ("spentSlot", id) > (?, ?) AND "spentSlot" <= ? ORDER BY "spentSlot", id`

/** No id of an output or a transaction comes after it. */
export const greatestId = new Uint8Array(40).fill(255)
