import { present } from '../../lib/assert.ts'
import { AccountAddress } from '../../protocol/addresses.ts'
import { BlockIssuer } from '../../protocol/features.ts'
import { is } from '../../protocol/is.ts'
import { type AccountOutput, BasicOutput } from '../../protocol/outputs.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { maxSlot } from '../../protocol/slots.ts'
import { AddressUnlock, Timelock } from '../../protocol/unlock-conditions.ts'
import { conditionOf, featureOf, storedManaOf } from '../output-parts.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { TransactionClock, WorkingSet } from '../working-set.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The right of an account to issue blocks: its expiry, and that the account keeps its mana (ledger reference 6.2, 6.3). */

/** Checks a new account: a right to issue blocks must not expire too early. */
export function blockIssuerBegins(
  set: WorkingSet,
  { state, output }: Beginning<AccountOutput>,
): TransactionError | undefined {
  const feature = featureOf(state, BlockIssuer)
  if (feature === undefined) return undefined
  if (set.clock === undefined) {
    return { code: 'BLOCK_ISSUER_COMMITMENT_INPUT_MISSING', accountId: state.accountId }
  }
  return expiryLateEnough(feature, set.clock, output)
}

/** Checks a changed account, implicit or not: the right to issue blocks is not shortened, and the account keeps its mana. */
export function blockIssuerChanges(
  set: WorkingSet,
  change: Change<AccountOutput | BasicOutput, AccountOutput>,
): TransactionError | undefined {
  const { before, after, input, output } = change
  // The right of an implicit account does not expire.
  const formerExpiry = is(BasicOutput, before)
    ? maxSlot
    : featureOf(before, BlockIssuer)?.expirySlot
  const feature = featureOf(after, BlockIssuer)
  if (formerExpiry === undefined && feature === undefined) return undefined
  const { clock } = set
  if (clock === undefined) {
    return { code: 'BLOCK_ISSUER_COMMITMENT_INPUT_MISSING', accountId: after.accountId }
  }
  const isRunning = formerExpiry !== undefined && formerExpiry >= clock.slot
  if (feature === undefined && isRunning) return { code: 'BLOCK_ISSUER_NOT_EXPIRED', input }
  const isUnchanged = isRunning && feature?.expirySlot === formerExpiry
  const tooEarly = isUnchanged ? undefined : feature && expiryLateEnough(feature, clock, output)
  return tooEarly ?? manaStays(set, change, clock)
}

/** Checks the end of an account: its right to issue blocks has expired, and it has no debt. */
export function blockIssuerEnds(
  set: WorkingSet,
  { state, input }: End<AccountOutput>,
  accountId: AccountId,
): TransactionError | undefined {
  const feature = featureOf(state, BlockIssuer)
  if (feature === undefined) return undefined
  if (set.clock === undefined) return { code: 'BLOCK_ISSUER_COMMITMENT_INPUT_MISSING', accountId }
  if (feature.expirySlot >= set.clock.slot) return { code: 'BLOCK_ISSUER_NOT_EXPIRED', input }
  return creditsSuffice(set, accountId)
}

/** The transaction must have a credit input for the account, and the account must have no debt. */
export function creditsSuffice(
  { credits }: WorkingSet,
  accountId: AccountId,
): TransactionError | undefined {
  const held = credits.get(accountId)
  if (held === undefined) return { code: 'BLOCK_ISSUANCE_CREDIT_INPUT_MISSING', accountId }
  return held < 0n ? { code: 'ACCOUNT_LOCKED', accountId, credits: held } : undefined
}

/** The right must not expire before the last slot in which a block may carry the transaction. */
function expiryLateEnough(
  { expirySlot }: BlockIssuer,
  { pastBounded: earliest }: TransactionClock,
  output: number,
): TransactionError | undefined {
  if (expirySlot >= earliest) return undefined
  return { code: 'BLOCK_ISSUER_EXPIRY_TOO_EARLY', output, expirySlot, earliest }
}

/**
 * The mana of the account must return to the account, to its credits, or to an output with a long timelock. Otherwise the account could
 * spend mana that it owes for its blocks.
 */
function manaStays(
  { transaction, parameters, mana }: WorkingSet,
  { input, after, output }: Change<AccountOutput | BasicOutput, AccountOutput>,
  { pastBounded }: TransactionClock,
): TransactionError | undefined {
  const { accountId } = after
  const lockedBeyond = pastBounded + parameters.maxCommittableAge
  let kept = after.mana
  for (const allotment of transaction.allotments) {
    if (allotment.accountId === accountId) kept += allotment.mana
  }
  for (const created of transaction.outputs) {
    const address = conditionOf(created, AddressUnlock)?.address
    if (!is(AccountAddress, address) || address.accountId !== accountId) continue
    const timelock = conditionOf(created, Timelock)
    if (timelock !== undefined && timelock.slot > lockedBeyond) kept += storedManaOf(created)
  }
  const fromOthers = mana.inputs - present(mana.byInput[input], 'the mana of an input')
  const moved = mana.outputs - kept - fromOthers
  return moved > 0n ? { code: 'MANA_MOVED_OFF_BLOCK_ISSUER_ACCOUNT', output, moved } : undefined
}
