import type { StoreReader } from '../store/contract.ts'
import type { BlockRow } from '../store/rows.ts'

/** Reads of new blocks, shared by subscribers that have reached the same one. */

/** Blocks after a place in the inbox, in inbox order. */
export type ReadBlocks = (inbox: number) => Promise<readonly BlockRow[]>

/** Shares reads under way: a notification wakes all subscribers at once, and mostly they are at the same place. */
export function shareBlocks(reader: Pick<StoreReader, 'blocksAfter'>): ReadBlocks {
  const underWay = new Map<number, Promise<readonly BlockRow[]>>()
  return (inbox) => {
    const shared = underWay.get(inbox)
    if (shared !== undefined) return shared
    const read = reader.blocksAfter({ inbox, limit: pageSize }).finally(() => {
      underWay.delete(inbox)
    })
    underWay.set(inbox, read)
    return read
  }
}

const pageSize = 100
