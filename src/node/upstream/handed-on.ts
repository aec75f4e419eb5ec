import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import type { CheckedBlock } from '../source.ts'

/**
 * The blocks of late that went through this process to a node. A node does not give back a block that it has not booked,
 * nor one whose transaction failed; and a second hand-on of one would make a node of IOTA wait for ten seconds.
 */
export interface HandedOn {
  add(block: CheckedBlock): void
  block(id: BlockId): CheckedBlock | undefined
  /** The first of the blocks that carried it. */
  carrier(id: TransactionId): CheckedBlock | undefined
}

/** Remembers the newest blocks that together are no longer than `limit` bytes. */
export function createHandedOn(limit: number): HandedOn {
  const blocks = new Map<BlockId, CheckedBlock>()
  const carriers = new Map<TransactionId, BlockId>()
  let size = 0

  function add(block: CheckedBlock): void {
    if (blocks.has(block.blockId)) return
    blocks.set(block.blockId, block)
    size += block.bytes.length
    const transactionId = block.transaction?.identity.transactionId
    if (transactionId !== undefined && !carriers.has(transactionId)) {
      carriers.set(transactionId, block.blockId)
    }
    for (const oldest of blocks.values()) {
      if (size <= limit) break
      forget(oldest)
    }
  }

  function forget({ blockId, bytes, transaction }: CheckedBlock): void {
    blocks.delete(blockId)
    size -= bytes.length
    const transactionId = transaction?.identity.transactionId
    if (transactionId !== undefined && carriers.get(transactionId) === blockId) {
      carriers.delete(transactionId)
    }
  }

  function carrier(id: TransactionId): CheckedBlock | undefined {
    const blockId = carriers.get(id)
    return blockId && blocks.get(blockId)
  }

  return { add, block: (id) => blocks.get(id), carrier }
}
