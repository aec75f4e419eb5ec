import { hexToBytes } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import { Output } from '../../protocol/outputs.ts'
import type { StoreReader } from '../contract.ts'
import type { OutputRow } from '../rows.ts'
import { outputIds, outputRows, unspentSlots } from './bulk-tables.ts'
import type { Reading } from './reading.ts'

/** Outputs, by id and by slot. */
export function outputReads({ row, rows, keyed }: Reading) {
  const output = row(outputRows, 'WHERE id = ?')
  const many = keyed(outputRows, outputIds)
  const due = rows(
    outputRows,
    'WHERE id IN (SELECT "outputId" FROM due_outputs WHERE slot > ? AND slot <= ?)',
  )
  // The index of the created ones begins with the kind.
  const createdIn = rows(
    outputRows,
    `WHERE kind = ? AND "bookedSlot" = ? AND id > ? ORDER BY outputs.id LIMIT ${pageLimit}`,
  )
  const spentIn = rows(
    outputRows,
    `WHERE "spentSlot" = ? AND id > ? ORDER BY outputs.id LIMIT ${pageLimit}`,
  )
  // The name of the table: by its bare name PostgreSQL takes the text that is selected, and sorts all of them for each page.
  const unspent = rows(
    unspentSlots,
    `WHERE "outputId" > ? ORDER BY unspent_outputs."outputId" LIMIT ${pageLimit}`,
  )

  return {
    output: (outputId) => output(hexToBytes(outputId)),
    outputs: (ids) => many(ids.map((outputId) => ({ outputId }))),
    dueOutputs: (after, upTo) => due(after, upTo),
    slotOutputs: async (slot) => {
      const [spent, ...created] = await Promise.all([
        allPages((after) => spentIn(slot, after)),
        ...kinds.map((kind) => allPages((after) => createdIn(kind, slot, after))),
      ])
      return { created: created.flat(), spent }
    },
    unspentPage: (after) => unspent(after === undefined ? noBytes : hexToBytes(after)),
  } satisfies Partial<StoreReader>
}

/** A slot may have any number of them. */
async function allPages(read: (after: Uint8Array) => Promise<OutputRow[]>): Promise<OutputRow[]> {
  const found: OutputRow[] = []
  for (let after: Uint8Array = noBytes; ; ) {
    const page = await read(after)
    for (const row of page) found.push(row)
    const last = page.at(-1)
    if (last === undefined || page.length < pageLimit) return found
    after = hexToBytes(last.outputId)
    await passTurn()
  }
}

const kinds = Output.variants.map(({ code }) => code)

const noBytes = new Uint8Array()

/** Rows of a page: SQLite reads them in a few milliseconds, which hold the event loop. */
const pageLimit = 1_000
