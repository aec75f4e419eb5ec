import { ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { CommitteeSeat, EpochRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { seatsOfNode } from './node-stakes.ts'
import { committedEpoch } from './validators.ts'

/** An epoch: its slots, its committee, and what it paid. */

/** An epoch that has begun. */
export interface EpochView {
  readonly epoch: EpochIndex
  readonly firstSlot: SlotIndex
  readonly lastSlot: SlotIndex
  /** Whether its last slot is committed. */
  readonly isOver: boolean
}

/** A validator in the committee of an epoch. */
export interface SeatView extends CommitteeSeat {
  /** Mana for its pool; `undefined` until the epoch is over, and 0 where it did nothing. */
  readonly poolReward: bigint | undefined
}

/** Who validates in an epoch, and what it pays. */
export interface CommitteeOfEpoch {
  readonly seats: readonly SeatView[]
  /** Mana meant for the whole committee; `undefined` until the epoch is over, and where it paid nothing. */
  readonly targetReward: bigint | undefined
}

/** Reads an epoch, by default that of the newest milestone; `undefined` for one to come. */
export async function readEpoch(
  deps: Pick<Services, 'store' | 'source' | 'parameters'>,
  wanted: EpochIndex | undefined,
): Promise<EpochView | undefined> {
  const { parameters } = deps
  const current = await committedEpoch(deps)
  const epoch = wanted ?? current
  if (epoch > Math.max(current, epochOfSlot(parameters, deps.source.status().slot))) {
    return undefined
  }
  const lastSlot = lastSlotOfEpoch(parameters, epoch)
  const { slot } = await deps.store.read.latestMilestone()
  return {
    epoch,
    firstSlot: firstSlotOfEpoch(parameters, epoch),
    lastSlot,
    isOver: slot >= lastSlot,
  }
}

/** Reads the committee of an epoch; without members where it is not known. */
export async function readCommitteeOf(
  { store, source }: Pick<Services, 'store' | 'source'>,
  { epoch }: Pick<EpochView, 'epoch'>,
): Promise<Result<CommitteeOfEpoch, NotServedByNode>> {
  const { node, network } = source
  if (node !== undefined) {
    const seats = await seatsOfNode({ node, parameters: network.parameters }, epoch)
    if (!seats.ok) return seats
    // A node serves the reward of an output, and not that of a pool.
    const unpaid = seats.value.map((seat) => ({ ...seat, poolReward: undefined }))
    return ok({ seats: unpaid, targetReward: undefined })
  }
  const row = (await store.read.epochs(epoch)).find((one) => one.epoch === epoch)
  return ok({
    seats: (row?.committee ?? []).map((seat) => ({
      ...seat,
      poolReward: row && rewardOf(row, seat),
    })),
    targetReward: row?.rewards?.targetReward,
  })
}

function rewardOf({ rewards }: EpochRow, { accountId }: CommitteeSeat): bigint | undefined {
  return rewards && (rewards.poolById.get(accountId)?.poolReward ?? 0n)
}
