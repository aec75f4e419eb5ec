import { ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { CommitteeSeat, EpochRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { seatsOfNode } from './node-stakes.ts'
import { committedEpoch, readEpochRow } from './validators.ts'

/** An epoch: its slots, its committee, and its rewards. */

export interface EpochView {
  readonly epoch: EpochIndex
  readonly firstSlot: SlotIndex
  readonly lastSlot: SlotIndex
  /** Whether the last slot of the epoch is committed. */
  readonly isOver: boolean
}

/** A validator in the committee of an epoch. */
export interface SeatView extends CommitteeSeat {
  /** Mana reward of the validator's pool; `undefined` until the epoch is over, 0 if the validator was inactive. */
  readonly poolReward: bigint | undefined
}

/** The committee of an epoch, and its target reward. */
export interface CommitteeOfEpoch {
  readonly seats: readonly SeatView[]
  /** Target reward of the whole committee in mana; `undefined` until the epoch is over, and if the epoch paid no rewards. */
  readonly targetReward: bigint | undefined
}

/** Reads an epoch, by default the epoch of the newest milestone; `undefined` for a future epoch. */
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

/** Reads the committee of an epoch; without members if the committee is not known. */
export async function readCommitteeOf(
  { store, source }: Pick<Services, 'store' | 'source'>,
  { epoch }: Pick<EpochView, 'epoch'>,
): Promise<Result<CommitteeOfEpoch, NotServedByNode>> {
  const { node, network } = source
  if (node !== undefined) {
    const seats = await seatsOfNode({ node, parameters: network.parameters }, epoch)
    if (!seats.ok) return seats
    // A node serves the rewards of outputs, but not those of pools.
    const unpaid = seats.value.map((seat) => ({ ...seat, poolReward: undefined }))
    return ok({ seats: unpaid, targetReward: undefined })
  }
  const row = await readEpochRow({ store }, epoch)
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
