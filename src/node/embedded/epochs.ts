import {
  type Announcement,
  chooseCommittee,
  choosingSlot,
  isCandidacy,
} from '../../ledger/committee.ts'
import {
  type CommitteeMember,
  epochRewards,
  type SlotActivity,
  subslotOf,
} from '../../ledger/rewards.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { CommitteeSeat, EpochRow, IssuedBlockRow } from '../../store/rows.ts'
import { seatOf } from '../committee-seat.ts'
import type { LedgerState } from './state.ts'

/** Chooses the committee of the next epoch and computes the rewards of an ending epoch (ledger reference 12.5). */

export interface EpochsDeps {
  readonly read: Pick<StoreReader, 'blocksOfKind'>
  readonly parameters: ProtocolParameters
  readonly state: Pick<LedgerState, 'epochAt' | 'accounts'>
}

/**
 * Returns the epochs that change with a slot. Announcements add candidates to the current epoch. A slot near the end of an epoch
 * chooses the committee of the next epoch. The last slot sets the rewards. `deps.state` is the state at the end of the slot.
 */
export async function epochsChangedBy(
  deps: EpochsDeps,
  slot: SlotIndex,
  announcements: readonly Announcement[],
): Promise<EpochRow[]> {
  const { parameters, state } = deps
  const epoch = epochOfSlot(parameters, slot)
  const before = state.epochAt(epoch) ?? noEpoch(epoch)
  let own = await withCandidates(deps, before, announcements)
  const changed: EpochRow[] = []
  if (slot === choosingSlot(parameters, slot)) {
    const committee = await nextCommittee(deps, own, slot)
    changed.push({ ...noEpoch(epoch + 1), committee })
  }
  if (slot === lastSlotOfEpoch(parameters, epoch)) {
    const members = await membersOf(deps, epoch, own.committee)
    own = { ...own, rewards: epochRewards(parameters, epoch, members) }
  }
  return own === before ? changed : [...changed, own]
}

function noEpoch(epoch: EpochIndex): EpochRow {
  return { epoch, committee: [], candidates: [], rewards: undefined }
}

async function withCandidates(
  { parameters, state }: EpochsDeps,
  row: EpochRow,
  announcements: readonly Announcement[],
): Promise<EpochRow> {
  const entryAt = await state.accounts(announcements.map(({ issuerId }) => issuerId))
  const candidates = new Set(row.candidates)
  for (const announcement of announcements) {
    const { issuerId, committedSlot } = announcement
    if (isCandidacy(parameters, announcement, entryAt(issuerId, committedSlot))) {
      candidates.add(issuerId)
    }
  }
  return candidates.size === row.candidates.length ? row : { ...row, candidates: [...candidates] }
}

/** Chooses among the candidates of an epoch. Without candidates, the current committee continues. */
async function nextCommittee(
  { parameters, state }: EpochsDeps,
  { candidates, committee }: EpochRow,
  slot: SlotIndex,
): Promise<readonly CommitteeSeat[]> {
  const entryAt = await state.accounts(candidates)
  const remaining = candidates.flatMap((accountId) => entryAt(accountId, slot) ?? [])
  if (remaining.length === 0) return committee
  return chooseCommittee(parameters, remaining).map(seatOf)
}

async function membersOf(
  { read, parameters }: EpochsDeps,
  epoch: EpochIndex,
  committee: readonly CommitteeSeat[],
): Promise<CommitteeMember[]> {
  const activities = new Map(committee.map(({ accountId }) => [accountId, [] as SlotActivity[]]))
  const last = lastSlotOfEpoch(parameters, epoch)
  // An epoch may have millions of validation blocks.
  for (let from = firstSlotOfEpoch(parameters, epoch); from <= last; from += slotsPerRead) {
    const to = Math.min(from + slotsPerRead - 1, last)
    const blocks = committee.length === 0 ? [] : await read.blocksOfKind('validation', from, to)
    for (const [accountId, bySlot] of groupBlocks(blocks)) {
      const inSlots = [...bySlot.values()].map((inSlot) => activityOf(parameters, inSlot))
      activities.get(accountId)?.push(...inSlots)
    }
  }
  return committee.map((seat) => ({ ...seat, activity: activities.get(seat.accountId) ?? [] }))
}

/** Slots whose validation blocks are read at once. */
const slotsPerRead = 100

type BlocksBySlot = Map<SlotIndex, IssuedBlockRow[]>

function groupBlocks(blocks: readonly IssuedBlockRow[]): ReadonlyMap<AccountId, BlocksBySlot> {
  const byIssuer = new Map<AccountId, BlocksBySlot>()
  for (const block of blocks) {
    const slots: BlocksBySlot = byIssuer.get(block.issuerId) ?? new Map()
    slots.set(block.slot, [...(slots.get(block.slot) ?? []), block])
    byIssuer.set(block.issuerId, slots)
  }
  return byIssuer
}

function activityOf(
  parameters: ProtocolParameters,
  blocks: readonly IssuedBlockRow[],
): SlotActivity {
  const subslots = new Set(blocks.map(({ issuingTime }) => subslotOf(parameters, issuingTime)))
  return { blocks: blocks.length, subslots: subslots.size }
}
