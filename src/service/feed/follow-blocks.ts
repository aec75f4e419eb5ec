import { err, ok, type Result } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { retryWhileAway } from '../../store/retry.ts'
import type { BlockRow } from '../../store/rows.ts'
import { type BlockView, decodeBlock } from '../blocks/read-block.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'

/** New blocks, as they are stored. */

/** Which blocks; all of what is given must hold. */
export interface LiveBlockFilter {
  readonly issuerId?: AccountId | null | undefined
  readonly hasTransaction?: boolean | null | undefined
  readonly isValidation?: boolean | null | undefined
}

type Deps = Pick<Services, 'store' | 'source' | 'feed'>

/** Every block that is stored from now on, in the order of arrival, each once; ends when its consumer calls `return()`. */
export async function followBlocks(
  deps: Deps,
  filter: LiveBlockFilter,
): Promise<Result<AsyncIterableIterator<BlockView>, NotOffered>> {
  if (deps.source.node !== undefined) {
    return err({ code: 'NOT_OFFERED_BY_NODES', what: 'new blocks' })
  }
  const begin = await deps.store.read.newestInbox()
  return ok(stoppable((signal) => blocksAfter(deps, { filter, begin, signal })))
}

interface Following {
  readonly filter: LiveBlockFilter
  /** The place in the inbox of the last block that is known. */
  readonly begin: number
  readonly signal: AbortSignal
}

async function* blocksAfter(
  { feed: { blocks, readBlocks, tickMs } }: Deps,
  { filter, begin, signal }: Following,
): AsyncGenerator<BlockView, void, undefined> {
  const changed = createSignal()
  const stopWatching = blocks.add(changed.notify)
  let reached = begin
  try {
    while (!signal.aborted) {
      const from = reached
      const rows = (await retryWhileAway(() => readBlocks(from), signal)) ?? []
      for (const row of rows) {
        reached = row.inbox
        if (isWanted(row, filter)) yield { ...row, block: () => decodeBlock(row.bytes) }
      }
      // Blocks that another process on the database stores are found by the tick.
      if (rows.length === 0) await changed.wait({ ms: tickMs, signal })
    }
  } finally {
    stopWatching()
  }
}

function isWanted({ issuerId, transactionId, kind }: BlockRow, filter: LiveBlockFilter): boolean {
  const { hasTransaction, isValidation } = filter
  if (filter.issuerId != null && issuerId !== filter.issuerId) return false
  if (hasTransaction != null && (transactionId !== undefined) !== hasTransaction) return false
  return isValidation == null || (kind === 'validation') === isValidation
}
