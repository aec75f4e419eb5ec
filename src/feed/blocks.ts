import type { Listeners } from '../lib/listeners.ts'
import type { StoreReader } from '../store/contract.ts'
import type { BlockRow } from '../store/rows.ts'

/** Reads of new blocks, shared by subscribers that have reached the same block. */

/** Reads the blocks after a position of the inbox, in inbox order. */
export type ReadBlocks = (inbox: number) => Promise<readonly BlockRow[]>

/** Shares concurrent reads: a notification wakes all subscribers at once, and most of them have the same position. */
export function shareBlocks(
  reader: Pick<StoreReader, 'blocksAfter'>,
  blocks: Pick<Listeners<void>, 'add'>,
): ReadBlocks {
  const running = new Map<number, Promise<readonly BlockRow[]>>()
  // A read that began before a notification may lack its blocks. This listener is called before those of the subscribers.
  blocks.add(() => running.clear())
  return (inbox) => {
    const shared = running.get(inbox)
    if (shared !== undefined) return shared
    const read = reader.blocksAfter({ inbox, limit: pageSize }).finally(() => {
      if (running.get(inbox) === read) running.delete(inbox)
    })
    running.set(inbox, read)
    return read
  }
}

const pageSize = 100
