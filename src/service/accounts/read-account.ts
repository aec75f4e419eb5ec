import type { AccountEntry } from '../../ledger/accounts.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { AccountOutput, BasicOutput } from '../../protocol/outputs.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { MilestoneNotCommitted } from '../feed/follow-milestones.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** An account: its output, and what the accounts ledger says of it. */

/** An account as of the end of a committed slot. */
export interface AccountView {
  readonly accountId: AccountId
  readonly slot: SlotIndex
  /** `undefined` for an account that can neither issue blocks nor stake. */
  readonly entry: AccountEntry | undefined
  /** The unspent output that it is now; `undefined` where it is destroyed. */
  readonly output: OutputView | undefined
}

/** Reads an account, by default as of the newest slot; `undefined` where there is neither output nor entry. */
export async function readAccount(
  { store }: Pick<Services, 'store'>,
  accountId: AccountId,
  asOf: SlotIndex | undefined,
): Promise<Result<AccountView | undefined, MilestoneNotCommitted>> {
  const { slot: newest } = await store.read.latestMilestone()
  const slot = asOf ?? newest
  if (slot > newest) {
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument: 'milestoneIndex', milestoneIndex: slot, newest })
  }
  const keys = [{ kind: 'CHAIN', value: accountId }] as const
  // A basic output is an account to be.
  const filter = { asOf: 'COMMITTED', keys, kinds: [BasicOutput.code, AccountOutput.code] } as const
  const [entry, [row]] = await Promise.all([
    store.read.accountEntry(accountId, slot),
    store.read.unspentOutputs({ filter, limit: 1 }),
  ])
  if (entry === undefined && row === undefined) return ok(undefined)
  return ok({ accountId, slot, entry, output: row && viewOfOutput(row) })
}
