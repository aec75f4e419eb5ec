import { BlockIssuer } from '../../protocol/features.ts'
import type { AccountOutput } from '../../protocol/outputs.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { hasCapability } from '../capabilities.ts'
import { featureOf } from '../output-parts.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import {
  blockIssuerBegins,
  blockIssuerChanges,
  blockIssuerEnds,
  creditsSuffice,
} from './block-issuer.ts'
import { idIsNew, immutableFeaturesKept, issuerUnlocked } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'
import { newFoundries } from './foundry.ts'
import { rewardsGoWithStake, stakingBegins, stakingChanges, stakingEnds } from './staking.ts'

/** The transitions of an account (ledger reference 6.2). */

/** Checks a new account. */
export function accountBegins(
  set: WorkingSet,
  account: Beginning<AccountOutput>,
): TransactionError | undefined {
  return (
    idIsNew(account.state.accountId, account.output) ??
    blockIssuerBegins(set, account) ??
    stakingBegins(set, account) ??
    issuerUnlocked(set, account)
  )
}

/** Checks a changed account. Owner, amount, keys, metadata and sender may change. */
export function accountChanges(
  set: WorkingSet,
  change: Change<AccountOutput>,
): TransactionError | undefined {
  const mayIssue = featureOf(change.before, BlockIssuer) !== undefined
  return (
    immutableFeaturesKept(change) ??
    (mayIssue ? creditsSuffice(set, change.after.accountId) : undefined) ??
    stakingChanges(set, change) ??
    foundriesCounted(set, change) ??
    blockIssuerChanges(set, change) ??
    rewardsGoWithStake(set, change)
  )
}

/** Checks the end of an account. Its foundries remain, and no transaction can change them any more. */
export function accountEnds(
  set: WorkingSet,
  end: End<AccountOutput>,
  accountId: AccountId,
): TransactionError | undefined {
  if (!hasCapability(set.transaction, 'destroyAccounts')) {
    return { code: 'CAPABILITIES_ACCOUNT_DESTRUCTION_NOT_ALLOWED', input: end.input }
  }
  return blockIssuerEnds(set, end, accountId) ?? stakingEnds(set, end, accountId)
}

/** The counter must increase by the number of new foundries. An unchanged counter is not checked here: each new foundry fails by itself. */
function foundriesCounted(
  set: WorkingSet,
  { before, after, output }: Change<AccountOutput>,
): TransactionError | undefined {
  const { foundryCounter } = after
  if (foundryCounter === before.foundryCounter) return undefined
  const expected = before.foundryCounter + newFoundries(set, after.accountId)
  if (foundryCounter > before.foundryCounter && foundryCounter === expected) return undefined
  return { code: 'ACCOUNT_INVALID_FOUNDRY_COUNTER', output, foundryCounter, expected }
}
