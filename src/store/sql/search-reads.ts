import { hexToBytes } from '../../lib/hex.ts'
import type { IdRange, SearchReader } from '../contract/search.ts'
import { blocks, commitments, outputRows, transactions } from './bulk-tables.ts'
import type { ReadTable } from './columns.ts'
import type { Reading } from './reading.ts'

/** Reads of rows by a range of ids, for searches by the beginning of an id. */
export function searchReads({ rows }: Reading): SearchReader {
  const within = <Row>(table: ReadTable<never, Row>) => {
    // Qualified with the table: the bare name is that of the selected text, which no index has.
    const read = rows(table, `WHERE id >= ? AND id <= ? ORDER BY ${table.name}.id LIMIT ?`)
    return ({ from, to, limit }: IdRange) => read(hexToBytes(from), hexToBytes(to), limit)
  }
  return {
    blocksWithin: within(blocks),
    transactionsWithin: within(transactions),
    milestonesWithin: within(commitments),
    outputsWithin: within(outputRows),
  }
}
