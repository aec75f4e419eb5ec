import { ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import type { NotServedByNode } from '../../node/source.ts'
import { ManaRewards } from '../../protocol/node-responses.ts'
import {
  type ManaRewardsError,
  type ManaRewardsView,
  openClaims,
} from '../accounts/mana-rewards.ts'
import type { Services } from '../services.ts'
import type { ChainView } from './read-chain.ts'

/** The reward of a delegation; `undefined` once its output is spent, also by a transaction booked after the newest milestone. */
export type DelegationReward = Result<
  ManaRewardsView | undefined,
  ManaRewardsError | NotServedByNode
>

/** Computes the rewards of delegations if they were claimed now, in the given order. Each reward sums up hundreds of epochs. */
export async function readRewards(
  { store, source }: Pick<Services, 'store' | 'source'>,
  delegations: readonly ChainView[],
): Promise<readonly DelegationReward[]> {
  const { node } = source
  if (node !== undefined) {
    const ask = ({ current }: ChainView) =>
      current === undefined
        ? ok(undefined)
        : node.fetch(`/rewards/${current.outputId}`, ManaRewards)
    return await Promise.all(delegations.map(ask))
  }
  const { slot } = await store.read.latestMilestone()
  const claimOf = await openClaims({ store, source }, slot)
  const rewards: DelegationReward[] = []
  for (const { current } of delegations) {
    await passTurn()
    const isThere = current !== undefined && current.spentSlot === undefined
    rewards.push(isThere ? claimOf(current) : ok(undefined))
  }
  return rewards
}
