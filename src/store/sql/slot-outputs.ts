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

/** All rows of a statement that takes a place, the last slot, and gives a page behind the place. */
export async function rowsOfSlots<Row>(
  { tx, sql }: RawWriting,
  text: string,
  { upTo, first, placeOf }: { upTo: number; first: Place; placeOf: (row: Row) => Place },
): Promise<Row[]> {
  const numbered = sql.numbered(`${text} LIMIT ${rowsPerPage}`)
  const rows: Row[] = []
  for (let after = first; ; ) {
    const page = await tx.$queryRawUnsafe<Row[]>(numbered, ...after, BigInt(upTo))
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsPerPage) return rows
    after = placeOf(last)
    await passTurn()
  }
}

/** Some milliseconds. */
export const rowsPerPage = 2_000

/** Outputs that some slots create and spend, in no order; an output may be in both lists. */
export async function slotOutputs(
  reading: RawWriting,
  { after, upTo }: SlotRange,
): Promise<{ readonly created: OutputModel[]; readonly spent: OutputModel[] }> {
  const first: Place = [BigInt(after), greatestId]
  const created: OutputModel[] = []
  for (const kind of kinds) {
    const placeOf = ({ bookedSlot, id }: OutputModel) => [bookedSlot, id]
    const some = await rowsOfSlots(reading, createdOf(kind), { upTo, first, placeOf })
    created.push(...some)
  }
  const placeOf = ({ spentSlot, id }: OutputModel) => [spentSlot ?? 0n, id]
  const spent = await rowsOfSlots(reading, spentText, { upTo, first, placeOf })
  return { created, spent }
}

/** The index of the created ones begins with the kind. */
const kinds = Output.variants.map(({ code }) => code)

const createdOf = (kind: number) => `SELECT * FROM outputs
  WHERE kind = ${kind} AND ("bookedSlot", id) > (?, ?) AND "bookedSlot" <= ? ORDER BY "bookedSlot", id`

const spentText = `SELECT * FROM outputs
  WHERE ("spentSlot", id) > (?, ?) AND "spentSlot" <= ? ORDER BY "spentSlot", id`

/** No id of an output or a transaction comes after it. */
export const greatestId = new Uint8Array(40).fill(255)
