import { claimReward, rewardClaimOf } from '../../ledger/reward-claims.ts'
import { assert } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { EpochIndex, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { lastSlotOfEpoch } from '../../protocol/slots.ts'
import { readOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** What a stake or a delegation may claim (rest.md 4.1; ledger reference 12.5). */

/** Rewards in mana, and the epochs they are for. */
export interface ManaRewardsView {
  readonly startEpoch: EpochIndex
  readonly endEpoch: EpochIndex
  readonly rewards: bigint
  /** Of the whole pool, in the newest epoch that is over. */
  readonly latestCommittedEpochPoolRewards: bigint
}

/** Why nothing can be claimed. */
export type ManaRewardsError =
  | { readonly code: 'NOT_FOUND'; readonly what: string; readonly id: string }
  /** The output is neither a delegation nor an account that stakes. */
  | { readonly code: 'OUTPUT_EARNS_NOTHING'; readonly outputId: OutputId }
  | {
      readonly code: 'SLOT_BEFORE_GENESIS'
      readonly slot: SlotIndex
      readonly genesisSlot: SlotIndex
    }

/** Returns what an unspent output would claim under a commitment to `slot`, by default the newest one. */
export async function readManaRewards(
  deps: Pick<Services, 'store' | 'source'>,
  outputId: OutputId,
  requestedSlot: SlotIndex | undefined,
): Promise<Result<ManaRewardsView, ManaRewardsError>> {
  const { parameters } = deps.source.network
  const { read } = deps.store
  const { genesisSlot } = parameters
  const slot = requestedSlot ?? (await read.latestMilestone()).slot
  if (slot < genesisSlot) return err({ code: 'SLOT_BEFORE_GENESIS', slot, genesisSlot })
  const row = await readOutput(deps, outputId)
  if (row === undefined || row.spentSlot !== undefined) {
    return err({ code: 'NOT_FOUND', what: 'unspent output', id: outputId })
  }
  const claim = rewardClaimOf(parameters, { output: row.output(), outputId }, slot)
  if (claim === undefined) return err({ code: 'OUTPUT_EARNS_NOTHING', outputId })
  const earliest = claim.claimingEpoch - parameters.rewardsParameters.retentionPeriod
  const epochs = await read.epochs(Math.max(earliest, 0))
  const over = epochs.filter(({ epoch }) => lastSlotOfEpoch(parameters, epoch) <= slot)
  const rewardsByEpoch = new Map(over.map(({ epoch, rewards }) => [epoch, rewards]))
  const lastEpoch = Math.max(-1, ...rewardsByEpoch.keys())
  const rewardsOf = (epoch: EpochIndex) => rewardsByEpoch.get(epoch)
  const claimed = claimReward(parameters, { lastEpoch, rewardsOf }, claim)
  assert(claimed.ok, 'rewards that the ledger gave fit into 64 bits')
  const { reward: rewards, firstEpoch: startEpoch, lastEpoch: endEpoch } = claimed.value
  const pool = rewardsOf(lastEpoch)?.poolById.get(claim.accountId)
  return ok({
    startEpoch,
    endEpoch: Math.max(endEpoch, 0),
    rewards,
    latestCommittedEpochPoolRewards: pool?.poolReward ?? 0n,
  })
}
