import type { AccountEntry } from '../../ledger/accounts.ts'
import {
  type CommitteeMember,
  epochRewards,
  type SlotActivity,
  subslotOf,
} from '../../ledger/rewards.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { StoreReader, ValidationBlockRow } from '../../store/contract.ts'
import type { CommitteeSeat, EpochRow } from '../../store/rows.ts'
import type { LedgerState } from './state.ts'

/** Epochs: who validates in the next one, and what the one that ends has paid (ledger reference 12.5). */

/** What deciding over epochs needs. */
export interface EpochsDeps {
  readonly read: Pick<StoreReader, 'validationBlocks'>
  readonly parameters: ProtocolParameters
  readonly state: LedgerState
}

/** The epochs that change with a slot: the next one gets its committee some slots before the end, the ending one its rewards. */
export async function epochsChangedBy(deps: EpochsDeps, slot: SlotIndex): Promise<EpochRow[]> {
  const { parameters, state } = deps
  const epoch = epochOfSlot(parameters, slot)
  const changed: EpochRow[] = []
  if (slot === choosingSlot(parameters, epoch)) {
    const committee = chooseCommittee(parameters, state.accounts(), epoch + 1)
    changed.push({ epoch: epoch + 1, committee, rewards: undefined })
  }
  if (slot === lastSlotOfEpoch(parameters, epoch)) {
    const committee = state.committeeOf(epoch)
    const members = await membersOf(deps, epoch, committee)
    changed.push({ epoch, committee, rewards: epochRewards(parameters, epoch, members) })
  }
  return changed
}

/**
 * The committee of an epoch: of the accounts that stake through it those with the largest pools, by id where pools are
 * equal. How a node chooses was not read closely, and with one validator nothing depends on it.
 */
export function chooseCommittee(
  parameters: ProtocolParameters,
  accounts: Iterable<AccountEntry>,
  epoch: EpochIndex,
): CommitteeSeat[] {
  return [...accounts]
    .filter(({ validatorStake, stakeEndEpoch }) => validatorStake > 0n && stakeEndEpoch >= epoch)
    .map(({ accountId, validatorStake, delegationStake, fixedCost }) => ({
      accountId,
      poolStake: validatorStake + delegationStake,
      validatorStake,
      fixedCost,
    }))
    .sort((a, b) => compare(b.poolStake, a.poolStake) || compare(a.accountId, b.accountId))
    .slice(0, parameters.targetCommitteeSize)
}

/** Long enough before the end that the commitments of the last slots can name the next committee. */
function choosingSlot(parameters: ProtocolParameters, epoch: EpochIndex): SlotIndex {
  const late = lastSlotOfEpoch(parameters, epoch) - parameters.maxCommittableAge - 1
  return Math.max(late, firstSlotOfEpoch(parameters, epoch), parameters.genesisSlot + 1)
}

async function membersOf(
  { read, parameters }: EpochsDeps,
  epoch: EpochIndex,
  committee: readonly CommitteeSeat[],
): Promise<CommitteeMember[]> {
  if (committee.length === 0) return []
  const from = firstSlotOfEpoch(parameters, epoch)
  const blocks = await read.validationBlocks(from, lastSlotOfEpoch(parameters, epoch))
  const bySlot = groupBlocks(blocks)
  return committee.map((seat) => ({
    ...seat,
    activity: [...(bySlot.get(seat.accountId)?.values() ?? [])].map((inSlot) =>
      activityOf(parameters, inSlot),
    ),
  }))
}

type BlocksBySlot = Map<SlotIndex, ValidationBlockRow[]>

function groupBlocks(blocks: readonly ValidationBlockRow[]): ReadonlyMap<AccountId, BlocksBySlot> {
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
  blocks: readonly ValidationBlockRow[],
): SlotActivity {
  const subslots = new Set(blocks.map(({ issuingTime }) => subslotOf(parameters, issuingTime)))
  return { blocks: blocks.length, subslots: subslots.size }
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1
}
