import { setTimeout as delay } from 'node:timers/promises'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { present } from '../../lib/assert.ts'
import { Block, signedTransactionOf } from '../../protocol/block.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { AwaitingCarrier, PendingBlock } from '../../store/contract/waiting.ts'
import type { StoreWriter } from '../../store/contract.ts'
import type { BlockRow } from '../../store/rows.ts'
import { type PreparedTransaction, prepareTransaction } from '../prepared-transaction.ts'
import type { SignatureChecker } from '../signatures.ts'
import type { Candidate, StoredWaiter } from './carrier-queue.ts'
import type { StoredWaiters } from './judge.ts'

/** Reads the carriers of a batch for judging: carriers in the inbox, and carriers that wait for them. */

export interface CarriersDeps {
  readonly write: Pick<StoreWriter, 'transactionsForBooking' | 'awaitedCounts' | 'carriersAwaiting'>
  readonly signatures: Pick<SignatureChecker, 'check'>
  /** Transactions prepared on receipt of their block. Missing ones are prepared again. */
  readonly prepared: ReadonlyMap<BlockId, PreparedTransaction>
}

/** Returns the blocks that carry a transaction without a final verdict. */
export async function openCarriers<B extends Pick<BlockRow, 'transactionId'>>(
  { write }: Pick<CarriersDeps, 'write'>,
  blocks: readonly B[],
): Promise<(B & { readonly transactionId: TransactionId })[]> {
  const carrying = blocks.flatMap((block) => {
    const { transactionId } = block
    return transactionId === undefined ? [] : [{ ...block, transactionId }]
  })
  if (carrying.length === 0) return []
  const ids = new Set(carrying.map(({ transactionId }) => transactionId))
  const rows = await write.transactionsForBooking([...ids])
  const open = rows.filter(
    ({ state, failureReason }) => state === 'PENDING' || isOfCarrier(failureReason),
  )
  const openIds = new Set(open.map(({ transactionId }) => transactionId))
  return carrying.filter(({ transactionId }) => openIds.has(transactionId))
}

/** Prepares the transactions of carriers concurrently, because several threads check signatures. */
export function candidatesOf(
  deps: CarriersDeps,
  carriers: readonly PendingBlock[],
): Promise<Candidate[]> {
  return Promise.all(
    carriers.map(async (block) => {
      const { blockId, inbox, slot } = block
      const prepared = deps.prepared.get(blockId) ?? (await prepareAgain(deps, block))
      return { blockId, inbox, slot, prepared }
    }),
  )
}

/**
 * Prepares a transaction after a restart, or of a block that another process accepted. The block was acknowledged, so a full
 * signature queue is retried.
 */
async function prepareAgain(deps: CarriersDeps, row: PendingBlock): Promise<PreparedTransaction> {
  const block = decodeStored(Block, row.bytes)
  const payload = present(signedTransactionOf(block), 'the transaction of a carrier')
  for (;;) {
    const prepared = await prepareTransaction(deps.signatures, payload)
    if (prepared.ok) return prepared.value
    await delay(retryMs)
  }
}

const retryMs = 50

/**
 * Loads the carriers that wait for the candidates, the carriers that wait for those carriers, and so on, up to a fixed cost.
 * When a chain of waiting carriers is longer, the batch is cut and the next batch judges the rest.
 */
export async function storedWaiters(
  deps: CarriersDeps,
  candidates: readonly Candidate[],
): Promise<StoredWaiters> {
  const loaded = new Set<TransactionId>()
  const found = new Map<number, AwaitingCarrier>()
  let places = maxLoadedWaits
  let asked = idsOf(candidates)
  for (let round = 0; round < maxRounds && asked.length > 0; round++) {
    const countById = await deps.write.awaitedCounts(asked)
    const awaited: TransactionId[] = []
    for (const id of asked) {
      const count = countById.get(id) ?? 0
      if (count > places) continue
      places -= count
      loaded.add(id)
      if (count > 0) awaited.push(id)
    }
    const carriers = awaited.length === 0 ? [] : await deps.write.carriersAwaiting(awaited)
    for (const { block, awaits, missing } of carriers) {
      const former = found.get(block.inbox)?.awaits ?? []
      found.set(block.inbox, { block, awaits: [...former, ...awaits], missing })
    }
    const next = carriers.flatMap(({ block }) => block.transactionId ?? [])
    asked = [...new Set(next)].filter((id) => !loaded.has(id))
  }
  return { waiters: await prepared(deps, found), isLoaded: (id) => loaded.has(id) }
}

/** Maximum number of steps along a chain of waiting transactions. */
const maxRounds = 16

/** Maximum number of pairs of a carrier and an awaited transaction that a batch loads. */
const maxLoadedWaits = 500

/** Omits carriers whose transaction got its verdict by another carrier. They keep waiting until they are released. */
async function prepared(
  deps: CarriersDeps,
  found: ReadonlyMap<number, AwaitingCarrier>,
): Promise<StoredWaiter[]> {
  const blocks = await openCarriers(
    deps,
    [...found.values()].map(({ block }) => block),
  )
  const candidates = await candidatesOf(deps, blocks)
  return candidates.flatMap((candidate) => {
    const waits = found.get(candidate.inbox)
    return waits === undefined ? [] : [{ candidate, awaits: waits.awaits, missing: waits.missing }]
  })
}

function idsOf(candidates: readonly Candidate[]): TransactionId[] {
  return [...new Set(candidates.map(({ prepared }) => prepared.identity.transactionId))]
}
