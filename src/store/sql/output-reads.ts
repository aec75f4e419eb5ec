import { hexToBytes } from '../../lib/hex.ts'
import type { StoreReader } from '../contract.ts'
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
  const bookedIn = rows(outputRows, 'WHERE "bookedSlot" = ?')
  const spentIn = rows(outputRows, 'WHERE "spentSlot" = ?')
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
      const [created, spent] = await Promise.all([bookedIn(slot), spentIn(slot)])
      return { created, spent }
    },
    unspentPage: (after) => unspent(after === undefined ? noBytes : hexToBytes(after)),
  } satisfies Partial<StoreReader>
}

const noBytes = new Uint8Array()

/** Rows of a page: SQLite reads them in a few milliseconds, which hold the event loop. */
const pageLimit = 1_000
