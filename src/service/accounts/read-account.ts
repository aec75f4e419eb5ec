import { type AccountEntry, delegationStakeOf } from '../../ledger/accounts.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import { type ChainView, chainKinds, readChain } from '../chains/read-chain.ts'
import type { MilestoneNotCommitted } from '../feed/follow-milestones.ts'
import type { Services } from '../services.ts'

/** An account: its outputs, and its entry in the accounts ledger. */

/** An account chain, with the slot of its entry. */
export interface AccountView extends ChainView {
  /** The committed slot at whose end the entry of the account is read. */
  readonly asOf: SlotIndex
}

/** Reads an account, its entry by default as of the newest slot; `undefined` if it never had an output or an entry. */
export async function readAccount(
  deps: Pick<Services, 'store'>,
  accountId: AccountId,
  wanted: SlotIndex | undefined,
): Promise<Result<AccountView | undefined, MilestoneNotCommitted>> {
  const { read } = deps.store
  const { slot: newest } = await read.latestMilestone()
  const asOf = wanted ?? newest
  if (asOf > newest) {
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument: 'milestoneIndex', milestoneIndex: asOf, newest })
  }
  const chain = await readChain(deps, chainKinds.ACCOUNT, accountId)
  if (chain !== undefined) return ok({ ...chain, asOf })
  // An account may have an entry before it has an output.
  if ((await read.accountEntry(accountId, asOf)) === undefined) return ok(undefined)
  const nothing = { length: 0, last: undefined, current: undefined } as const
  return ok({ kind: chainKinds.ACCOUNT, chainId: accountId, slot: newest, asOf, ...nothing })
}

/** A chain as an account, with its entry as of the chain's slot; `undefined` for a chain of another kind. */
export function accountOf(chain: ChainView): AccountView | undefined {
  return chain.kind === chainKinds.ACCOUNT ? { ...chain, asOf: chain.slot } : undefined
}

/** Reads the entry of an account; `undefined` if the account can neither issue blocks nor stake. */
export async function readEntry(
  { store }: Pick<Services, 'store'>,
  { chainId, asOf }: Pick<AccountView, 'chainId' | 'asOf'>,
): Promise<AccountEntry | undefined> {
  const entry = await store.read.accountEntry(chainId as AccountId, asOf)
  return entry && { ...entry, delegationStake: delegationStakeOf(entry) }
}
