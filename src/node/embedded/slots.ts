import {
  concernsAccounts,
  type IssuedBlock,
  type LedgerOutput,
} from '../../ledger/account-changes.ts'
import { acceptedRoots, type CommittedSlot, commitSlot } from '../../ledger/commit-slot.ts'
import type { Announcement } from '../../ledger/committee.ts'
import { inLogOrder, logEntries } from '../../ledger/updates.ts'
import { assert } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns } from '../../lib/turns.ts'
import { BasicBlockBody, Block, ValidationBlockBody } from '../../protocol/block.ts'
import { slotOfId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type {
  AccountId,
  BlockId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { Allotment } from '../../protocol/transaction.ts'
import type { SlotCommit, Store } from '../../store/contract.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import type { LogEntry, LogTip, OutputRow, SlotBlock } from '../../store/rows.ts'
import { epochsChangedBy } from './epochs.ts'
import type { LedgerState } from './state.ts'

/** Commits slots: what was booked in them becomes rows of the log, and their commitments are chained. */

/** What committing needs. */
export interface SlotsDeps {
  readonly store: Store
  readonly network: Network
  /** The state at the end of the newest committed slot; committing advances it. */
  readonly state: () => LedgerState
}

/** The most slots of one database transaction. */
export const slotsPerCommit = 1_000

/** What was committed, the oldest slot first, and how far the log reaches now. */
export interface CommittedSlots {
  readonly tip: LogTip
  readonly slots: readonly CommittedSlot[]
}

/** Commits the slots after `former` up to `upTo`, all closed and booked, in one transaction. */
export async function commitSlots(
  deps: SlotsDeps,
  term: number,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<Result<CommittedSlots, LeaseLost>> {
  const state = deps.state()
  const { commits, slots } = await nextSlots(deps, range)
  const tip = await deps.store.write.commitSlots(term, commits, state.trieChanges())
  if (tip.ok) await state.written()
  return tip.ok ? ok({ tip: tip.value, slots }) : tip
}

/** What the slots hold, as it is written; what it was made of need not stay in memory until then. */
async function nextSlots(
  deps: SlotsDeps,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<{ readonly commits: readonly SlotCommit[]; readonly slots: readonly CommittedSlot[] }> {
  const from = range.former.commitment.slot + 1
  const bySlot = await gatherSlots(deps, from, range.upTo)
  const commits: SlotCommit[] = []
  const slots: CommittedSlot[] = []
  let former = range.former
  // A gateway that was off for long commits many: the rest of its start, and its health, need the event loop meanwhile.
  const turns = createTurns()
  for (let slot = from; slot <= range.upTo; slot++) {
    await turns.pass()
    const held = bySlot.get(slot) ?? emptySlot()
    bySlot.delete(slot)
    const next = await nextSlot(deps, { former, slot, held })
    former = next.committed
    commits.push(next.commit)
    slots.push(former)
  }
  return { commits, slots }
}

/** Advances the state by a slot. */
async function nextSlot(
  { network, store, state: stateOf }: SlotsDeps,
  { former, slot, held }: { former: CommittedSlot; slot: SlotIndex; held: GatheredSlot },
): Promise<{ readonly commit: SlotCommit; readonly committed: CommittedSlot }> {
  const { parameters } = network
  const state = stateOf()
  const { blockIds, transactionIds, allotments, blocks, created, consumed } = held
  const events = {
    slot,
    allotments,
    created: created.ofAccounts,
    consumed: consumed.ofAccounts,
    blocks,
    burnPrice: state.burnPrice(slot),
  }
  const outputIds = { created: created.ids, consumed: consumed.ids }
  const { roots, accounts } = await state.advance(events, outputIds)
  const committed = commitSlot(network, {
    former,
    blockIds,
    transactionIds,
    acceptedRoots: await acceptedRoots(held),
    workScore: held.workScore,
    ledgerRoots: roots,
  })
  const epochs = await epochsChangedBy(
    { read: store.read, parameters, state },
    slot,
    held.announced,
  )
  state.settle(committed, epochs)
  const { commitmentId, bytes } = committed
  const entries = await inLogOrder(held.entries)
  return { commit: { slot, commitmentId, bytes, entries, accounts, epochs }, committed }
}

/** What a slot holds, as far as its commitment and the log need it. */
interface GatheredSlot {
  readonly blockIds: BlockId[]
  readonly transactionIds: TransactionId[]
  readonly blocks: IssuedBlock[]
  readonly announced: Announcement[]
  readonly allotments: Allotment[]
  readonly created: MovedOutputs
  readonly consumed: MovedOutputs
  /** Of the log, in no order. */
  readonly entries: LogEntry[]
  workScore: number
}

/** Outputs that a slot creates, or those that it spends. */
interface MovedOutputs {
  readonly ids: OutputId[]
  /** Those that may change accounts, decoded. */
  readonly ofAccounts: LedgerOutput[]
}

const emptySlot = (): GatheredSlot => ({
  blockIds: [],
  transactionIds: [],
  blocks: [],
  announced: [],
  allotments: [],
  created: { ids: [], ofAccounts: [] },
  consumed: { ids: [], ofAccounts: [] },
  entries: [],
  workScore: 0,
})

/** What was booked into slots, by slot; of a row no more is kept than is needed, for a slot may have any number. */
async function gatherSlots(
  { store, network: { parameters } }: SlotsDeps,
  from: SlotIndex,
  upTo: SlotIndex,
): Promise<Map<SlotIndex, GatheredSlot>> {
  const bySlot = new Map<SlotIndex, GatheredSlot>()
  // Few accounts issue most blocks, and each row brings a text of its own.
  const issuers = new Map<AccountId, AccountId>()
  const at = (slot: SlotIndex): GatheredSlot => {
    const held = bySlot.get(slot) ?? emptySlot()
    bySlot.set(slot, held)
    return held
  }
  const move = (row: OutputRow, slot: SlotIndex, isSpent: boolean) => {
    const held = at(slot)
    const { ids, ofAccounts } = isSpent ? held.consumed : held.created
    const one = decodeOutput(row)
    ids.push(one.outputId)
    if (concernsAccounts(one.output)) ofAccounts.push(one)
    for (const entry of logEntries(parameters, { ...one, isSpent, slot })) held.entries.push(entry)
  }
  await store.write.readSlots(from, upTo, {
    block: (block) => {
      const { slot, blockId, issuerId, workScore } = block
      const held = at(slot)
      const issuer = issuers.get(issuerId) ?? issuerId
      issuers.set(issuer, issuer)
      held.blockIds.push(blockId)
      held.workScore += workScore
      held.blocks.push(issuedBlock({ ...block, issuerId: issuer }))
      held.announced.push(...announcementIn(block))
    },
    transaction: ({ slot, transactionId, allotments }) => {
      const held = at(slot)
      held.transactionIds.push(transactionId)
      held.allotments.push(...allotments)
    },
    created: (row) => move(row, row.bookedSlot, false),
    spent: (row) => {
      if (row.spentSlot !== undefined) move(row, row.spentSlot, true)
    },
  })
  return bySlot
}

function decodeOutput({ outputId, bytes }: OutputRow): LedgerOutput {
  const output = decode(Output, bytes)
  assert(output.ok, 'a stored output decodes')
  return { outputId, output: output.value }
}

function issuedBlock({ issuerId, workScore, bytes }: SlotBlock): IssuedBlock {
  const body = bytes && blockOf(bytes).body
  if (!is(ValidationBlockBody, body)) return { kind: 'basic', issuerId, workScore }
  const { highestSupportedVersion: version, protocolParametersHash: hash } = body
  return { kind: 'validation', issuerId, version, hash }
}

function announcementIn({ issuerId, slot, bytes }: SlotBlock): Announcement[] {
  const block = bytes && blockOf(bytes)
  if (!is(BasicBlockBody, block?.body)) return []
  return [{ issuerId, slot, committedSlot: slotOfId(block.header.slotCommitmentId) }]
}

function blockOf(bytes: Uint8Array): Block {
  const block = decode(Block, bytes)
  assert(block.ok, 'a stored block decodes')
  return block.value
}
