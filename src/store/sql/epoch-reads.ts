import type { StoreReader } from '../contract.ts'
import {
  candidatesFrom,
  candidatesJson,
  committeeFrom,
  committeeJson,
  rewardsFrom,
  rewardsJson,
} from '../json-columns.ts'
import { column, long, table } from './columns.ts'
import type { Reading } from './reading.ts'

const epochTable = table('epochs', {
  epoch: long,
  committee: column('text', committeeJson, (value) => committeeFrom(String(value))),
  candidates: column('text', candidatesJson, (value) => candidatesFrom(textOf(value))),
  rewards: column('text', rewardsJson, (value) => rewardsFrom(textOf(value))),
})

/** Reads of epochs, and counts of the blocks of slots. */
export function epochReads({ rows, query }: Reading) {
  const epochsFrom = rows(epochTable, 'WHERE epoch >= ? ORDER BY epoch')

  return {
    epochs: (from) => epochsFrom(from),
    countBlocks: async (from, to) => {
      const [counts] = await query(
        `SELECT count(*), count(CASE WHEN state IN ('ACCEPTED', 'CONFIRMED', 'FINALIZED') THEN 1 END)
          FROM blocks WHERE slot >= ? AND slot <= ?`,
        [from, to],
      )
      return { all: Number(counts?.[0]), accepted: Number(counts?.[1]) }
    },
  } satisfies Partial<StoreReader>
}

function textOf(value: unknown): string | null {
  return value === null ? null : String(value)
}
