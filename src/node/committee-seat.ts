import type { AccountEntry } from '../ledger/accounts.ts'
import { poolStakeOf } from '../ledger/committee.ts'
import type { CommitteeSeat } from '../store/rows.ts'

/** The committee seat of an account, with the present stakes of the account. */
export function seatOf(entry: AccountEntry): CommitteeSeat {
  const { accountId, validatorStake, fixedCost } = entry
  return { accountId, poolStake: poolStakeOf(entry), validatorStake, fixedCost }
}
