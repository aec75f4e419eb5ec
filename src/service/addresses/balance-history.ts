import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { TotalAt } from '../../store/contract/view.ts'
import { type MilestoneBounds, slotsWithin } from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import {
  type MilestoneRangeReversed,
  type PageSizeOutOfRange,
  sizeFault,
} from '../updates/list-ledger-updates.ts'
import { firstRetainedSlot } from './address-history.ts'

/** Balances of an address at a limited number of milestones, so that the cost does not depend on the length of the history. */

/** The address, the milestones, and the maximum number of points. */
export interface BalanceHistoryRequest extends MilestoneBounds {
  readonly address: Hex
  readonly points: number
}

/** Total base tokens at the end of a milestone. */
export type BalancePoint = TotalAt

/** Base tokens at the ends of milestones, the oldest first. */
export interface BalanceHistory {
  readonly points: readonly BalancePoint[]
  /** The first milestone with a known balance; `undefined` if balances are known since the genesis. */
  readonly knownFrom: SlotIndex | undefined
}

/** Reads the balances, by default from the first change of the address to the newest milestone. */
export async function readBalanceHistory(
  services: Pick<Services, 'store' | 'parameters'>,
  { address, points, fromMilestone, toMilestone }: BalanceHistoryRequest,
): Promise<Result<BalanceHistory, MilestoneRangeReversed | PageSizeOutOfRange>> {
  const bounds = slotsWithin({ fromMilestone, toMilestone })
  if (!bounds.ok) return bounds
  const fault = sizeFault('points', points)
  if (fault !== undefined) return err(fault)
  const { read } = services.store
  const tip = await read.logTip()
  // The balance at the newest milestone is known even if the log has no rows.
  const known = Math.min(await firstRetainedSlot(services, tip), tip.slot)
  const knownFrom = tip.prunedSeq === 0 ? undefined : known
  const first = await read.firstOwned(address)
  if (first === undefined) return ok({ points: [], knownFrom })
  const from = Math.max(fromMilestone ?? first, known)
  const to = Math.min(bounds.value.to, tip.slot)
  return ok({ points: await read.totalsAt(address, spacedSlots({ from, to, points })), knownFrom })
}

/**
 * At most `points` slots, including both ends. The slots between them are multiples of a power of two, so that most of them
 * stay the same when the end moves forward.
 */
export function spacedSlots({
  from,
  to,
  points,
}: {
  readonly from: SlotIndex
  readonly to: SlotIndex
  readonly points: number
}): readonly SlotIndex[] {
  if (from > to || points === 0) return []
  if (from === to || points === 1) return [to]
  let step = 1
  while (Math.ceil(to / step) - Math.floor(from / step) + 1 > points) step *= 2
  const slots = [from]
  for (let slot = (Math.floor(from / step) + 1) * step; slot < to; slot += step) slots.push(slot)
  return [...slots, to]
}
