import type { Log } from '../../lib/log.ts'
import { createOutage } from '../../lib/outage.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import { nodeWorkScore } from '../../protocol/score.ts'
import type { Acceptance, IncomingBlock, StoreWriter } from '../../store/contract.ts'
import { blockKind } from '../block-kind.ts'
import type { CheckedBlock, InboxFull } from '../source.ts'

/** The durable inbox, filled by group commit: blocks that arrive during a flush share the next flush. */

/** Writes blocks to the inbox. */
export interface Inbox {
  /** Resolves when the block is durable, is already known, or is too late for its slot. */
  accept(block: IncomingBlock): Promise<Result<Acceptance, InboxFull>>
  /** Number of blocks that wait for a flush. */
  waiting(): number
  /** Resolves when all blocks that wait now are written. */
  settled(): Promise<void>
}

export interface InboxDeps {
  readonly write: Pick<StoreWriter, 'acceptBlocks'>
  /** Called after a flush that accepted blocks. */
  onAccepted(): void
  /** Maximum number of blocks that wait for a flush. */
  readonly limit: number
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Creates an inbox. A flush that fails rejects every block of its batch. */
export function createInbox(deps: InboxDeps): Inbox {
  const fullness = createOutage(deps.log, { began: 'inbox-full', over: 'inbox-free' })
  let waiting: Waiting[] = []
  let flushing: Promise<void> | undefined

  function accept(block: IncomingBlock): Promise<Result<Acceptance, InboxFull>> {
    if (waiting.length >= deps.limit) {
      fullness.failed(`${waiting.length} blocks wait to be written, and further blocks are refused`)
      return Promise.resolve(err({ code: 'INBOX_FULL', waiting: waiting.length }))
    }
    return new Promise((resolve, reject) => {
      waiting.push({ block, resolve: (acceptance) => resolve(ok(acceptance)), reject })
      flushing ??= flushAll()
    })
  }

  async function flushAll(): Promise<void> {
    // Yields once, so that blocks that are being read from their sockets join the first flush.
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchLimit)
      waiting = waiting.slice(batchLimit)
      await flush(batch)
    }
    flushing = undefined
    fullness.recovered()
  }

  async function flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await deps.write.acceptBlocks(batch.map(({ block }) => block))
      if (answers.includes('ACCEPTED')) deps.onAccepted()
      batch.forEach(({ resolve }, i) => {
        resolve(answers[i] ?? 'SLOT_CLOSED')
      })
    } catch (failure) {
      for (const { reject } of batch) reject(failure)
    }
  }

  return { accept, waiting: () => waiting.length, settled: async () => flushing }
}

/** Maximum number of blocks in a flush. The transaction takes a few milliseconds. */
const batchLimit = 500

interface Waiting {
  readonly block: IncomingBlock
  resolve(acceptance: Acceptance): void
  reject(failure: unknown): void
}

/** Converts a checked block to the form that the inbox stores. */
export function incomingBlock(
  parameters: ProtocolParameters,
  { block, bytes, blockId, slot, transaction }: CheckedBlock,
): IncomingBlock {
  const { issuerId, issuingTime } = block.header
  const { strongParents, weakParents, shallowLikeParents } = block.body
  return {
    blockId,
    parents: [...strongParents, ...weakParents, ...shallowLikeParents],
    slot,
    issuerId,
    issuingTime,
    bytes,
    transactionId: transaction?.identity.transactionId,
    kind: blockKind(block.body),
    workScore: nodeWorkScore(parameters, block),
  }
}
