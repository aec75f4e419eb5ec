import { claimReward, rewardClaimOf, rewardHistoryAt } from '../../ledger/reward-claims.ts'
import { assert } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { EpochIndex, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import { type OutputView, readOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** Rewards that a stake or a delegation may claim (rest.md 4.1; ledger reference 12.5). */

/** Rewards in mana, and the epochs for which they are paid. */
export interface ManaRewardsView {
  readonly startEpoch: EpochIndex
  readonly endEpoch: EpochIndex
  readonly rewards: bigint
  /** Mana reward of the whole pool in the newest epoch that is over. */
  readonly latestCommittedEpochPoolRewards: bigint
}

/** Why an output can claim no rewards. */
export type ManaRewardsError =
  | { readonly code: 'NOT_FOUND'; readonly what: string; readonly id: string }
  /** The output is neither a delegation nor an account that stakes. */
  | { readonly code: 'OUTPUT_EARNS_NOTHING'; readonly outputId: OutputId }
  | {
      readonly code: 'SLOT_BEFORE_GENESIS'
      readonly slot: SlotIndex
      readonly genesisSlot: SlotIndex
    }

/** The rewards that an output can claim, or why it can claim none. */
export type ManaClaim = Result<ManaRewardsView, ManaRewardsError>

type Needed = Pick<Services, 'store' | 'source'>

/** Returns the rewards that an unspent output can claim under a commitment to `requestedSlot`, by default the newest slot. */
export async function readManaRewards(
  deps: Needed,
  outputId: OutputId,
  requestedSlot: SlotIndex | undefined,
): Promise<ManaClaim> {
  const { genesisSlot } = deps.source.network.parameters
  const slot = requestedSlot ?? (await deps.store.read.latestMilestone()).slot
  if (slot < genesisSlot) return err({ code: 'SLOT_BEFORE_GENESIS', slot, genesisSlot })
  const row = await readOutput(deps, outputId)
  if (row === undefined || row.spentSlot !== undefined) {
    return err({ code: 'NOT_FOUND', what: 'unspent output', id: outputId })
  }
  return (await openClaims(deps, slot))(row)
}

/**
 * Returns a function that computes the claims of unspent outputs in a slot, which may be in the future. The epochs are read once for all
 * outputs.
 */
export async function openClaims(
  { store, source }: Needed,
  slot: SlotIndex,
): Promise<(row: OutputView) => ManaClaim> {
  const { parameters } = source.network
  const claimingEpoch = epochOfSlot(parameters, slot + parameters.minCommittableAge)
  const earliest = claimingEpoch - parameters.rewardsParameters.retentionPeriod
  const [epochs, { slot: newest }] = await Promise.all([
    store.read.epochs(Math.max(earliest, 0)),
    store.read.latestMilestone(),
  ])
  // An epoch is over when its last slot is committed: before that it has paid nothing.
  const history = rewardHistoryAt(parameters, epochs, Math.min(slot, newest))

  return ({ outputId, output }) => {
    const claim = rewardClaimOf(parameters, { output: output(), outputId }, slot)
    if (claim === undefined) return err({ code: 'OUTPUT_EARNS_NOTHING', outputId })
    const claimed = claimReward(parameters, history, claim)
    assert(claimed.ok, 'rewards that the ledger paid fit into 64 bits')
    const { reward: rewards, firstEpoch: startEpoch, lastEpoch: endEpoch } = claimed.value
    const pool = history.rewardsOf(history.lastEpoch)?.poolById.get(claim.accountId)
    return ok({
      startEpoch,
      endEpoch: Math.max(endEpoch, 0),
      rewards,
      latestCommittedEpochPoolRewards: pool?.poolReward ?? 0n,
    })
  }
}
