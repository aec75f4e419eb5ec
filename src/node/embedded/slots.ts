import type { AccountEvents, IssuedBlock, LedgerOutput } from '../../ledger/account-changes.ts'
import { acceptedRoots, type CommittedSlot, commitSlot } from '../../ledger/commit-slot.ts'
import type { Announcement } from '../../ledger/committee.ts'
import { slotEntries } from '../../ledger/updates.ts'
import { assert } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns, mapInTurns } from '../../lib/turns.ts'
import { BasicBlockBody, Block, ValidationBlockBody } from '../../protocol/block.ts'
import { slotOfId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { SlotCommit, Store } from '../../store/contract.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import type { LogTip, OutputRow, SlotBlock, SlotContents } from '../../store/rows.ts'
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
  const from = range.former.commitment.slot + 1
  const state = deps.state()
  const contents = await deps.store.write.slotContents(from, range.upTo)
  const bySlot = groupBySlot(contents)
  const commits: SlotCommit[] = []
  const slots: CommittedSlot[] = []
  let former = range.former
  // A gateway that was off for long commits many: the rest of its start, and its health, need the event loop meanwhile.
  const turns = createTurns()
  for (let slot = from; slot <= range.upTo; slot++) {
    await turns.pass()
    const held = bySlot.get(slot) ?? nothing
    const outputs = await decodeOutputs(held)
    const { roots, accounts } = await state.advance(accountEvents(state, slot, held, outputs))
    const accepted = {
      blockIds: held.blocks.map(({ blockId }) => blockId),
      transactionIds: held.transactions.map(({ transactionId }) => transactionId),
    }
    former = commitSlot(deps.network, {
      former,
      ...accepted,
      acceptedRoots: await acceptedRoots(accepted),
      workScore: held.blocks.reduce((sum, { workScore }) => sum + workScore, 0),
      ledgerRoots: roots,
    })
    const epochs = await epochsChangedBy(
      { read: deps.store.read, parameters: deps.network.parameters, state },
      slot,
      held.blocks.flatMap(announcementIn),
    )
    state.settle(former, epochs)
    slots.push(former)
    const { commitmentId, bytes } = former
    const entries = await slotEntries(deps.network.parameters, slot, outputs)
    commits.push({ slot, commitmentId, bytes, entries, accounts, epochs })
  }
  const tip = await deps.store.write.commitSlots(term, commits, state.trieChanges())
  if (tip.ok) state.written()
  return tip.ok ? ok({ tip: tip.value, slots }) : tip
}

type Contents = { -readonly [K in keyof SlotContents]: SlotContents[K][number][] }

const nothing: Contents = { blocks: [], transactions: [], created: [], spent: [] }

function groupBySlot(contents: SlotContents): ReadonlyMap<SlotIndex, Contents> {
  const bySlot = new Map<SlotIndex, Contents>()
  const at = (slot: SlotIndex): Contents => {
    const held = bySlot.get(slot) ?? { blocks: [], transactions: [], created: [], spent: [] }
    bySlot.set(slot, held)
    return held
  }
  for (const block of contents.blocks) at(block.slot).blocks.push(block)
  for (const transaction of contents.transactions)
    at(transaction.slot).transactions.push(transaction)
  for (const output of contents.created) at(output.bookedSlot).created.push(output)
  for (const output of contents.spent)
    if (output.spentSlot !== undefined) at(output.spentSlot).spent.push(output)
  return bySlot
}

/** The outputs that a slot creates and spends, decoded. */
interface SlotOutputs {
  readonly created: readonly LedgerOutput[]
  readonly consumed: readonly LedgerOutput[]
}

async function decodeOutputs({ created, spent }: Contents): Promise<SlotOutputs> {
  return {
    created: await mapInTurns(created, decodeOutput),
    consumed: await mapInTurns(spent, decodeOutput),
  }
}

function decodeOutput({ outputId, bytes }: OutputRow): LedgerOutput {
  const output = decode(Output, bytes)
  assert(output.ok, 'a stored output decodes')
  return { outputId, output: output.value }
}

/** The events of a slot for the accounts ledger. */
function accountEvents(
  state: LedgerState,
  slot: SlotIndex,
  { blocks, transactions }: Contents,
  { created, consumed }: SlotOutputs,
): AccountEvents {
  return {
    slot,
    allotments: transactions.flatMap(({ allotments }) => allotments),
    created,
    consumed,
    blocks: blocks.map(issuedBlock),
    burnPrice: state.burnPrice(slot),
  }
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
