import type { AccountEntry } from '../ledger/accounts.ts'
import { poolStakeOf } from '../ledger/committee.ts'
import type { CommitteeSeat } from '../store/rows.ts'

/** The seat of an account in a committee, with the account's stakes as they are now. */
export function seatOf(entry: AccountEntry): CommitteeSeat {
  const { accountId, validatorStake, fixedCost } = entry
  return { accountId, poolStake: poolStakeOf(entry), validatorStake, fixedCost }
}
