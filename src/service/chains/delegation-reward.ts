import { ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import { ManaRewards } from '../../protocol/node-answers.ts'
import {
  type ManaRewardsError,
  type ManaRewardsView,
  readManaRewards,
} from '../accounts/mana-rewards.ts'
import type { Services } from '../services.ts'
import type { ChainView } from './read-chain.ts'

/** What a delegation would earn if it were claimed in the newest milestone; `undefined` once it is spent. */
export async function readReward(
  deps: Pick<Services, 'store' | 'source'>,
  { current }: ChainView,
): Promise<Result<ManaRewardsView | undefined, ManaRewardsError | NotServedByNode>> {
  if (current === undefined) return ok(undefined)
  const { outputId } = current
  const { node } = deps.source
  if (node !== undefined) return await node.ask(`/rewards/${outputId}`, ManaRewards)
  const rewards = await readManaRewards(deps, outputId, undefined)
  // Spent by what is booked since the newest milestone.
  return !rewards.ok && rewards.error.code === 'NOT_FOUND' ? ok(undefined) : rewards
}
