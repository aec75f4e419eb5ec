import type { StoreReader } from '../contract.ts'
import { epochs } from './bulk-tables.ts'
import type { Reading } from './reading.ts'
import { isAccepted } from './slot-outputs.ts'

/** Reads of epochs, and counts of the blocks of slots. */
export function epochReads({ rows, query }: Reading) {
  const epochsFrom = rows(epochs, 'WHERE epoch >= ? ORDER BY epoch')

  return {
    epochs: (from) => epochsFrom(from),
    countBlocks: async (from, to) => {
      const [counts] = await query(
        `SELECT count(*), count(CASE WHEN ${isAccepted} THEN 1 END)
          FROM blocks WHERE slot >= ? AND slot <= ?`,
        [from, to],
      )
      return { all: Number(counts?.[0]), accepted: Number(counts?.[1]) }
    },
  } satisfies Partial<StoreReader>
}
