import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { valueIn } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { retryWhileAway } from '../../store/retry.ts'
import { type BlockView, readBlock } from '../blocks/read-block.ts'
import { readTransaction, type TransactionView } from '../blocks/read-transaction.ts'
import type { Services } from '../services.ts'

/** The state of a block or a transaction: its row is read whenever the log has moved, and once per tick. */

/** A block as it is and whenever its state has changed; waits while it is unknown, and ends with its last state. */
export function followBlockState(
  deps: Pick<Services, 'store' | 'source' | 'feed'>,
  blockId: BlockId,
): AsyncIterableIterator<BlockView> {
  const isLast = ({ state }: BlockView) => state === 'FINALIZED' || state === 'DROPPED'
  const look = async () => valueIn(await readBlock(deps, blockId))
  return stoppable((signal) => changes(deps, signal, { look, isLast, key: ({ state }) => state }))
}

/**
 * The same for a transaction. It does not end with a failure that belongs to the block that carries it: another block may
 * carry the same transaction with other unlocks, or when its inputs exist (ledger reference 3.3).
 */
export function followTransactionState(
  deps: Pick<Services, 'store' | 'source' | 'feed'>,
  transactionId: TransactionId,
): AsyncIterableIterator<TransactionView> {
  const isLast = ({ state, failure }: TransactionView) =>
    state === 'FINALIZED' || (state === 'FAILED' && !isOfCarrier(failure?.code))
  const look = async () => valueIn(await readTransaction(deps, transactionId))
  const key = ({ state, failure }: TransactionView) => `${state} ${failure?.code ?? 0}`
  return stoppable((signal) => changes(deps, signal, { look, isLast, key }))
}

interface Looking<T> {
  /** An upstream node may answer at the next look what it does not answer now. */
  readonly look: () => Promise<T | undefined>
  readonly isLast: (found: T) => boolean
  /** A value is emitted when its key has changed. */
  readonly key: (found: T) => string
}

async function* changes<T>(
  { feed: { tail, tickMs } }: Pick<Services, 'feed'>,
  signal: AbortSignal,
  { look, isLast, key }: Looking<T>,
): AsyncGenerator<T, void, undefined> {
  const changed = createSignal()
  const stopWatching = tail.watchTip(changed.notify)
  let emittedKey: string | undefined
  try {
    while (!signal.aborted) {
      const found = await retryWhileAway(look, signal)
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
