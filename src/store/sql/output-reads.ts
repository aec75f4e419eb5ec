import { hexToBytes } from '../../lib/hex.ts'
import type { StoreReader } from '../contract.ts'
import { outputIds, outputRows } from './bulk-tables.ts'
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
  const unspentAt = rows(
    outputIds,
    `WHERE "bookedSlot" >= ? AND "bookedSlot" <= ? AND ("spentSlot" IS NULL OR "spentSlot" > ?)`,
  )

  return {
    output: (outputId) => output(hexToBytes(outputId)),
    outputs: (ids) => many(ids.map((outputId) => ({ outputId }))),
    dueOutputs: (after, upTo) => due(after, upTo),
    slotOutputs: async (slot) => {
      const [created, spent] = await Promise.all([bookedIn(slot), spentIn(slot)])
      return { created, spent }
    },
    unspentIds: async ({ slot, from, to }) => {
      const found = await unspentAt(from, Math.min(to, slot), slot)
      return found.map(({ outputId }) => outputId)
    },
  } satisfies Partial<StoreReader>
}
