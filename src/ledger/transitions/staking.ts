import { Staking } from '../../protocol/features.ts'
import type { AccountOutput } from '../../protocol/outputs.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import { featureOf } from '../output-parts.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { TransactionClock, WorkingSet } from '../working-set.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The stake of an account as a validator (ledger reference 6.4). */

/** Checks a new account, or one that was implicit: a stake must begin now. */
export function stakingBegins(
  set: WorkingSet,
  { state, output }: Beginning<AccountOutput>,
): TransactionError | undefined {
  const staking = featureOf(state, Staking)
  if (staking === undefined) return undefined
  if (set.clock === undefined) return commitmentMissing(state.accountId)
  return stakesFromNow(set, staking, set.clock, output)
}

/** Checks a changed account. While a stake is bound, only its end may change. */
export function stakingChanges(
  set: WorkingSet,
  { before, after, input, output }: Change<AccountOutput>,
): TransactionError | undefined {
  const former = featureOf(before, Staking)
  const next = featureOf(after, Staking)
  if (former === undefined) return stakingBegins(set, { state: after, output })
  if (set.clock === undefined) return commitmentMissing(after.accountId)
  if (hasEnded(set, former, set.clock)) {
    const isNew = next !== undefined && !isSame(former, next)
    return isNew ? stakesFromNow(set, next, set.clock, output) : undefined
  }
  const { endEpoch } = former
  if (next === undefined) {
    return { code: 'STAKING_FEATURE_REMOVED_BEFORE_UNBONDING', input, endEpoch }
  }
  if (!isSame({ ...former, endEpoch: next.endEpoch }, next)) {
    return { code: 'STAKING_FEATURE_MODIFIED_BEFORE_UNBONDING', input }
  }
  return next.endEpoch === endEpoch ? undefined : endsLateEnough(set, next, set.clock, output)
}

/** Rewards must be claimed if an ended stake is removed or restarted, and only then. */
export function rewardsGoWithStake(
  set: WorkingSet,
  { before, after, input }: Change<AccountOutput>,
): TransactionError | undefined {
  const former = featureOf(before, Staking)
  const next = featureOf(after, Staking)
  const isClaimed = set.rewards.has(input)
  const mustClaim =
    former !== undefined &&
    set.clock !== undefined &&
    hasEnded(set, former, set.clock) &&
    (next === undefined || !isSame(former, next))
  if (mustClaim === isClaimed) return undefined
  const code = mustClaim ? 'STAKING_REWARD_INPUT_MISSING' : 'STAKING_REWARD_CLAIMING_INVALID'
  return { code, input }
}

/** Checks the end of an account: its stake has ended, and its rewards are claimed. */
export function stakingEnds(
  set: WorkingSet,
  { state, input }: End<AccountOutput>,
  accountId: AccountId,
): TransactionError | undefined {
  const staking = featureOf(state, Staking)
  if (staking === undefined) return undefined
  if (set.clock === undefined) return commitmentMissing(accountId)
  if (!hasEnded(set, staking, set.clock)) {
    const { endEpoch } = staking
    return { code: 'STAKING_FEATURE_REMOVED_BEFORE_UNBONDING', input, endEpoch }
  }
  return set.rewards.has(input) ? undefined : { code: 'STAKING_REWARD_INPUT_MISSING', input }
}

function stakesFromNow(
  set: WorkingSet,
  staking: Staking,
  clock: TransactionClock,
  output: number,
): TransactionError | undefined {
  const { startEpoch } = staking
  const expected = epochOfSlot(set.parameters, clock.pastBounded)
  if (startEpoch !== expected) {
    return { code: 'STAKING_START_EPOCH_INVALID', output, startEpoch, expected }
  }
  return endsLateEnough(set, staking, clock, output)
}

/** A stake is bound for a minimum number of epochs, counted from every change of its end. */
function endsLateEnough(
  { parameters }: WorkingSet,
  { endEpoch }: Staking,
  { pastBounded }: TransactionClock,
  output: number,
): TransactionError | undefined {
  const earliest = epochOfSlot(parameters, pastBounded) + parameters.stakingUnbondingPeriod
  if (endEpoch >= earliest) return undefined
  return { code: 'STAKING_END_EPOCH_TOO_EARLY', output, endEpoch, earliest }
}

function hasEnded({ parameters }: WorkingSet, { endEpoch }: Staking, clock: TransactionClock) {
  return epochOfSlot(parameters, clock.futureBounded) > endEpoch
}

function isSame(a: Staking, b: Staking): boolean {
  return (
    a.stakedAmount === b.stakedAmount &&
    a.fixedCost === b.fixedCost &&
    a.startEpoch === b.startEpoch &&
    a.endEpoch === b.endEpoch
  )
}

function commitmentMissing(accountId: AccountId): TransactionError {
  return { code: 'STAKING_COMMITMENT_INPUT_MISSING', accountId }
}
