import { setTimeout as delay } from 'node:timers/promises'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { assert, present } from '../../lib/assert.ts'
import { Block, signedTransactionOf } from '../../protocol/block.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { StoreWriter } from '../../store/contract.ts'
import type { BlockRow } from '../../store/rows.ts'
import type { PendingBlock } from '../../store/waiting-contract.ts'
import { type PreparedTransaction, prepareTransaction } from '../prepared-transaction.ts'
import type { SignatureChecker } from '../signatures.ts'
import type { Candidate, StoredWaiter } from './agenda.ts'
import type { StoredWaiters } from './judge.ts'

/** The carriers of a batch, read for their judgement: those of the inbox, and those that wait for them. */

/** What reading carriers needs. */
export interface CarriersDeps {
  readonly write: Pick<StoreWriter, 'transactionsForBooking' | 'awaitedCounts' | 'carriersAwaiting'>
  readonly signatures: Pick<SignatureChecker, 'check'>
  /** Transactions prepared when their block came in. Others are prepared again. */
  readonly prepared: ReadonlyMap<BlockId, PreparedTransaction>
}

/** A block that carries a transaction. */
export type Carrier = Pick<BlockRow, 'blockId' | 'slot' | 'inbox'> & {
  readonly transactionId: TransactionId
}

/** Those of some blocks that carry a transaction which has no verdict that lasts. */
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

/** Carriers with their transactions prepared: at once, for signatures are checked on several threads. */
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

/** After a restart, or for blocks that another process took in. The block was acknowledged, so a full queue is waited for. */
async function prepareAgain(deps: CarriersDeps, row: PendingBlock): Promise<PreparedTransaction> {
  const block = decode(Block, row.bytes)
  assert(block.ok, 'a block of the inbox decodes')
  const payload = present(signedTransactionOf(block.value), 'the transaction of a carrier')
  for (;;) {
    const prepared = await prepareTransaction(deps.signatures, payload)
    if (prepared.ok) return prepared.value
    await delay(retryMs)
  }
}

const retryMs = 50

/**
 * The carriers that wait for some transactions, those that wait for theirs, and so on as far as it goes at a bounded cost.
 * Where it goes further, a batch is cut, and the rest has its turn in the next.
 */
export async function storedWaiters(
  deps: CarriersDeps,
  candidates: readonly Candidate[],
): Promise<StoredWaiters> {
  const loaded = new Set<TransactionId>()
  const found = new Map<number, Found>()
  let places = mostLoaded
  let asked = idsOf(candidates)
  for (let round = 0; round < rounds && asked.length > 0; round++) {
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

interface Found {
  readonly block: BlockRow
  readonly awaits: readonly TransactionId[]
  readonly missing: number
}

/** The most steps of one chain of waiting transactions, and the most pairs of such that are loaded for a batch. */
const rounds = 16
const mostLoaded = 500

/** Those whose transactions have their verdict by another carrier wait on, and are over when they are released. */
async function prepared(
  deps: CarriersDeps,
  found: ReadonlyMap<number, Found>,
): Promise<StoredWaiter[]> {
  const blocks = await openCarriers(
    deps,
    [...found.values()].map(({ block }) => block),
  )
  const candidates = await candidatesOf(deps, blocks)
  return candidates.flatMap((candidate) => {
    const one = found.get(candidate.inbox)
    return one === undefined ? [] : [{ candidate, awaits: one.awaits, missing: one.missing }]
  })
}

function idsOf(candidates: readonly Candidate[]): TransactionId[] {
  return [...new Set(candidates.map(({ prepared }) => prepared.identity.transactionId))]
}
