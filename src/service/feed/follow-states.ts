import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { valueIn } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { retryWhileAway } from '../../store/retry.ts'
import { type BlockView, readBlock } from '../blocks/read-block.ts'
import { readTransaction, type TransactionView } from '../blocks/read-transaction.ts'
import type { Services } from '../services.ts'

/**
 * Follows the state of a block or a transaction. The feed finds the changes on the own ledger; in upstream mode the node is also asked once
 * per tick.
 */

/** Yields a block now and after each change of its state. Waits while the block is unknown, and ends after its final state. */
export function followBlockState(
  deps: Pick<Services, 'store' | 'source' | 'feed'>,
  blockId: BlockId,
): AsyncIterableIterator<BlockView> {
  const isLast = ({ state }: BlockView) => state === 'FINALIZED' || state === 'DROPPED'
  const read = async () => valueIn(await readBlock(deps, blockId))
  const watch = (notify: () => void) => deps.feed.blockStates.watch(blockId, notify)
  const key = ({ state }: BlockView) => state
  return changes({ read, watch, isLast, key, ...tickOf(deps) })
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
  const watch = (notify: () => void) => deps.feed.transactionStates.watch(transactionId, notify)
  return changes({ read, watch, isLast, key, ...tickOf(deps) })
}

interface Followed<T> {
  /** Calls `notify` when the value may have changed. The returned function ends the watch. */
  readonly watch: (notify: () => void) => () => void
  /** Reads the value; `undefined` if it is unknown now. An upstream node may return it at the next read. */
  readonly read: () => Promise<T | undefined>
  readonly isLast: (found: T) => boolean
  /** A value is emitted if its key differs from the key of the last emitted value. */
  readonly key: (found: T) => string | number
  /** Milliseconds after which the value is read again without a notification; never by default. */
  readonly ms?: number
}

function tickOf({ feed, source }: Pick<Services, 'feed' | 'source'>) {
  return source.node === undefined ? {} : { ms: feed.tickMs }
}

/** Yields a value now and after each change. A slow consumer gets only the newest value. */
export function changes<T>(followed: Followed<T>): AsyncIterableIterator<T> {
  return stoppable((signal) => changesUntil(signal, followed))
}

async function* changesUntil<T>(
  signal: AbortSignal,
  { read, watch, isLast, key, ...tick }: Followed<T>,
): AsyncGenerator<T, void, undefined> {
  const changed = createSignal()
  const stopWatching = watch(changed.notify)
  let emittedKey: string | number | undefined
  try {
    while (!signal.aborted) {
      const found = await retryWhileAway(read, signal)
      if (found !== undefined && key(found) !== emittedKey) {
        emittedKey = key(found)
        yield found
      }
      if (found !== undefined && isLast(found)) return
      await changed.wait({ ...tick, signal })
    }
  } finally {
    stopWatching()
  }
}
