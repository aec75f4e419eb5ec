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

/** Commits slots: turns their booked content into log rows, and chains their commitments. */

/** Dependencies of committing. */
export interface SlotsDeps {
  readonly store: Store
  readonly network: Network
  /** The state at the end of the newest committed slot; committing advances it. */
  readonly state: () => LedgerState
}

/** Maximum number of slots in one database transaction. */
export const slotsPerCommit = 1_000

/** The result of a commit. */
export interface CommittedSlots {
  /** The tip of the log after the commit. */
  readonly tip: LogTip
  /** Oldest first. */
  readonly slots: readonly CommittedSlot[]
}

/** Commits the slots after `former` up to `upTo` in one transaction. All of them must be closed and booked. */
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

/** Computes the rows to write for each slot. Frees the booked content of a slot as soon as its rows exist. */
async function nextSlots(
  deps: SlotsDeps,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<{ readonly commits: readonly SlotCommit[]; readonly slots: readonly CommittedSlot[] }> {
  const from = range.former.commitment.slot + 1
  const bySlot = await gatherSlots(deps, from, range.upTo)
  const commits: SlotCommit[] = []
  const slots: CommittedSlot[] = []
  let former = range.former
  // A gateway that was off for long commits many slots. Its start-up and its health checks need the event loop meanwhile.
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

/** Advances the state by one slot and builds its commitment. */
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

/** The content of a slot, as far as its commitment and the log need it. */
interface GatheredSlot {
  readonly blockIds: BlockId[]
  readonly transactionIds: TransactionId[]
  readonly blocks: IssuedBlock[]
  readonly announced: Announcement[]
  readonly allotments: Allotment[]
  readonly created: MovedOutputs
  readonly consumed: MovedOutputs
  /** Log entries in no particular order. */
  readonly entries: LogEntry[]
  workScore: number
}

/** The outputs that a slot creates, or the outputs that it spends. */
interface MovedOutputs {
  readonly ids: OutputId[]
  /** The decoded outputs that may change accounts. */
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

/** Reads the booked content of slots, by slot. Keeps only the needed parts of each row, because a slot may have any number of rows. */
async function gatherSlots(
  { store, network: { parameters } }: SlotsDeps,
  from: SlotIndex,
  upTo: SlotIndex,
): Promise<Map<SlotIndex, GatheredSlot>> {
  const bySlot = new Map<SlotIndex, GatheredSlot>()
  // Few accounts issue most blocks, and each row has its own copy of the issuer id: this map shares one string per issuer.
  const issuers = new Map<AccountId, AccountId>()
  const at = (slot: SlotIndex): GatheredSlot => {
    const held = bySlot.get(slot) ?? emptySlot()
    bySlot.set(slot, held)
    return held
  }
  const move = (row: OutputRow, slot: SlotIndex, isSpent: boolean) => {
    const held = at(slot)
    const { ids, ofAccounts } = isSpent ? held.consumed : held.created
    const decoded = decodeOutput(row)
    ids.push(decoded.outputId)
    if (concernsAccounts(decoded.output)) ofAccounts.push(decoded)
    for (const entry of logEntries(parameters, { ...decoded, isSpent, slot })) {
      held.entries.push(entry)
    }
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
