import { setTimeout as delay } from 'node:timers/promises'
import { inputIds } from '../../ledger/resolve.ts'
import { assert } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import { Block } from '../../protocol/block.ts'
import { Output } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { BlockId, CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { LeaseLost, Store } from '../../store/contract.ts'
import type { BlockRow, OutputRow } from '../../store/rows.ts'
import { type PreparedTransaction, prepareTransaction } from '../prepared-transaction.ts'
import type { SignatureChecker } from '../signatures.ts'
import { type BookedOutput, type Candidate, judge } from './judge.ts'
import type { LedgerState } from './state.ts'

/** Books the inbox in order of arrival: what its transactions change is written in one go a batch. */

/** What booking needs. */
export interface BookingDeps {
  readonly store: Store
  readonly parameters: ProtocolParameters
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly log: Log
  /** Transactions prepared when their block came in; booking takes them out. Others are prepared again. */
  readonly prepared: Map<BlockId, PreparedTransaction>
  readonly isCommitmentKnown: (id: CommitmentId) => boolean
  readonly state: () => LedgerState
  /** Up to this slot spends are final. */
  readonly committedSlot: () => SlotIndex
}

/** Books the next blocks of the inbox in one transaction; gives how many there were. */
export async function bookNext(
  deps: BookingDeps,
  term: number,
): Promise<Result<number, LeaseLost>> {
  const blocks = await deps.store.read.pendingBlocks(bookingBatch)
  if (blocks.length === 0) return ok(0)
  const candidates = await candidatesOf(deps, blocks)
  const state = deps.state()
  const { failures, ...effects } = judge(
    {
      parameters: deps.parameters,
      isCommitmentKnown: deps.isCommitmentKnown,
      creditsAt: (id, slot) => state.entryAt(id, slot)?.credits,
      rewardAt: state.rewardAt,
      outputById: await outputsOf(deps, candidates),
    },
    candidates,
  )
  const written = await deps.store.write.book(term, {
    blocks: blocks.map(({ blockId }) => ({ blockId, state: 'ACCEPTED' })),
    ...effects,
  })
  if (!written.ok) return written
  for (const { blockId } of blocks) deps.prepared.delete(blockId)
  for (const { candidate, error } of failures) {
    const { transactionId } = candidate.prepared.identity
    deps.log.info('transaction-failed', { transactionId, ...error })
  }
  return ok(blocks.length)
}

/** The most blocks of one booking. */
export const bookingBatch = 500

/** The transactions of some blocks; of several blocks with one transaction only the first to come counts. */
async function candidatesOf(deps: BookingDeps, blocks: readonly BlockRow[]): Promise<Candidate[]> {
  const carrying = blocks.filter(({ transactionId }) => transactionId !== undefined)
  const ids = carrying.flatMap(({ transactionId }) => transactionId ?? [])
  const rows = ids.length === 0 ? [] : await deps.store.write.transactionsForBooking(ids)
  const firstCarriers = new Set(rows.map(({ blockId }) => blockId))
  const counting = carrying.filter(({ blockId }) => firstCarriers.has(blockId))
  // At once, for signatures are checked on several threads.
  return Promise.all(
    counting.map(async (block) => {
      const prepared = deps.prepared.get(block.blockId) ?? (await prepareAgain(deps, block))
      return { blockId: block.blockId, slot: block.slot, prepared }
    }),
  )
}

/** After a restart, or for blocks that another process took in. The block was acknowledged, so a full queue is waited for. */
async function prepareAgain(deps: BookingDeps, row: BlockRow): Promise<PreparedTransaction> {
  const block = decode(Block, row.bytes)
  assert(block.ok, 'a block of the inbox decodes')
  const { body } = block.value
  assert(body.type === 0 && body.payload?.type === 1, 'a block with a transaction id carries one')
  for (;;) {
    const prepared = await prepareTransaction(deps.signatures, body.payload)
    if (prepared.ok) return prepared.value
    await delay(retryMs)
  }
}

const retryMs = 50

/** Every output that the candidates spend and that exists, in one query. */
async function outputsOf(
  deps: BookingDeps,
  candidates: readonly Candidate[],
): Promise<Map<OutputRow['outputId'], BookedOutput>> {
  const ids = new Set(candidates.flatMap(({ prepared }) => inputIds(prepared.payload.transaction)))
  const rows = ids.size === 0 ? [] : await deps.store.write.outputsForBooking([...ids])
  return new Map(rows.map((row) => [row.outputId, bookedOutput(row, deps.committedSlot())]))
}

function bookedOutput(row: OutputRow, committedSlot: SlotIndex): BookedOutput {
  const output = decode(Output, row.bytes)
  assert(output.ok, 'a stored output decodes')
  const { bookedSlot, spentSlot } = row
  const spentIn =
    spentSlot === undefined ? undefined : spentSlot <= committedSlot ? 'COMMITTED' : 'ACCEPTED'
  return { output: output.value, bookedSlot, spentIn }
}
