import type { AccountOutput, BasicOutput } from '../../protocol/outputs.ts'
import { isImplicitAccount } from '../chains.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { blockIssuerChanges, creditsSuffice } from './block-issuer.ts'
import { issuerUnlocked } from './chain-rules.ts'
import type { Change } from './chain-states.ts'
import { stakingBegins } from './staking.ts'

/** The only transition of an implicit account: it becomes an account (ledger reference 6.3). */

/** Checks an implicit account that becomes an account. */
export function implicitAccountChanges(
  set: WorkingSet,
  change: Change<BasicOutput, AccountOutput>,
): TransactionError | undefined {
  const { after, output } = change
  const account = { state: after, output }
  return (
    creditsSuffice(set, after.accountId) ??
    blockIssuerChanges(set, change) ??
    stakingBegins(set, account) ??
    issuerUnlocked(set, account)
  )
}

/** An implicit account cannot end. */
export function implicitAccountEnds(input: number): TransactionError {
  return { code: 'IMPLICIT_ACCOUNT_DESTRUCTION_DISALLOWED', input }
}

/** A transaction may spend at most one implicit account. */
export function oneImplicitAccount({ inputs }: WorkingSet): TransactionError | undefined {
  const [, second] = [...inputs.entries()].filter(([, { output }]) => isImplicitAccount(output))
  if (second === undefined) return undefined
  return { code: 'MULTIPLE_IMPLICIT_ACCOUNT_CREATION_ADDRESSES', input: second[0] }
}
