import { LRUCache } from 'lru-cache'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import type { CheckedBlock } from '../source.ts'

/**
 * A cache of the newest blocks that this process forwarded to a node. A node does not serve a block that it has not booked, nor a
 * block whose transaction failed. iota-core responds to a repeated submission of a block after ten seconds.
 */
export interface ForwardedBlocks {
  add(block: CheckedBlock): void
  block(id: BlockId): CheckedBlock | undefined
  /** The blocks that carried the transaction, in order. They may differ in their unlocks. */
  carriers(id: TransactionId): readonly CheckedBlock[]
}

/** Creates a cache of the newest blocks, up to `limit` bytes in total. */
export function createForwardedBlocks(limit: number): ForwardedBlocks {
  const carrying = new Map<TransactionId, Map<BlockId, CheckedBlock>>()
  const blocks = new LRUCache<BlockId, CheckedBlock>({
    maxSize: limit,
    sizeCalculation: ({ bytes }) => bytes.length,
    dispose: removeCarrier,
  })

  function add(block: CheckedBlock): void {
    if (blocks.has(block.blockId)) return
    const transactionId = block.transaction?.identity.transactionId
    blocks.set(block.blockId, block)
    if (transactionId === undefined || !blocks.has(block.blockId)) return
    const carriers = carrying.get(transactionId) ?? new Map<BlockId, CheckedBlock>()
    carrying.set(transactionId, carriers.set(block.blockId, block))
  }

  function removeCarrier({ blockId, transaction }: CheckedBlock): void {
    const transactionId = transaction?.identity.transactionId
    const carriers = transactionId && carrying.get(transactionId)
    if (transactionId === undefined || carriers === undefined) return
    carriers.delete(blockId)
    if (carriers.size === 0) carrying.delete(transactionId)
  }

  function carriers(id: TransactionId): readonly CheckedBlock[] {
    return [...(carrying.get(id)?.values() ?? [])]
  }

  return { add, block: (id) => blocks.peek(id), carriers }
}
