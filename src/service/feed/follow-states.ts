import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { valueIn } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { retryWhileAway } from '../../store/retry.ts'
import { type BlockView, readBlock } from '../blocks/read-block.ts'
import { readTransaction, type TransactionView } from '../blocks/read-transaction.ts'
import type { Services } from '../services.ts'

/** Follows the state of a block or a transaction: its row is read after each milestone, and once per tick. */

/** Yields a block now and after each change of its state. Waits while the block is unknown, and ends after its final state. */
export function followBlockState(
  deps: Pick<Services, 'store' | 'source' | 'feed'>,
  blockId: BlockId,
): AsyncIterableIterator<BlockView> {
  const isLast = ({ state }: BlockView) => state === 'FINALIZED' || state === 'DROPPED'
  const read = async () => valueIn(await readBlock(deps, blockId))
  return stoppable((signal) => changes(deps, signal, { read, isLast, key: ({ state }) => state }))
}

/**
 * Yields a transaction now and after each change of its state. A failure that belongs only to its block is not final: another
 * block may carry the transaction with other unlocks, or after its inputs exist (ledger reference 3.3).
 */
export function followTransactionState(
  deps: Pick<Services, 'store' | 'source' | 'feed'>,
  transactionId: TransactionId,
): AsyncIterableIterator<TransactionView> {
  const isLast = ({ state, failure }: TransactionView) =>
    state === 'FINALIZED' || (state === 'FAILED' && !isOfCarrier(failure?.code))
  const read = async () => valueIn(await readTransaction(deps, transactionId))
  const key = ({ state, failure }: TransactionView) => `${state} ${failure?.code ?? 0}`
  return stoppable((signal) => changes(deps, signal, { read, isLast, key }))
}

interface Polled<T> {
  /** Reads the value; `undefined` if it is unknown now. An upstream node may return it at the next read. */
  readonly read: () => Promise<T | undefined>
  readonly isLast: (found: T) => boolean
  /** A value is emitted if its key differs from the key of the last emitted value. */
  readonly key: (found: T) => string
}

async function* changes<T>(
  { feed: { tail, tickMs } }: Pick<Services, 'feed'>,
  signal: AbortSignal,
  { read, isLast, key }: Polled<T>,
): AsyncGenerator<T, void, undefined> {
  const changed = createSignal()
  const stopWatching = tail.watchTip(changed.notify)
  let emittedKey: string | undefined
  try {
    while (!signal.aborted) {
      const found = await retryWhileAway(read, signal)
      if (found !== undefined && key(found) !== emittedKey) {
        emittedKey = key(found)
        yield found
      }
      if (found !== undefined && isLast(found)) return
      await changed.wait({ ms: tickMs, signal })
    }
  } finally {
    stopWatching()
  }
}
