import { type AccountEntry, delegationStakeOf } from '../../ledger/accounts.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import { type ChainView, chainKinds, readChain } from '../chains/read-chain.ts'
import type { MilestoneNotCommitted } from '../feed/follow-milestones.ts'
import type { Services } from '../services.ts'

/** An account: its outputs, and its entry in the accounts ledger. */

/** Reads an account; `undefined` if it never had an output and has no entry. */
export async function readAccount(
  deps: Pick<Services, 'store'>,
  accountId: AccountId,
): Promise<ChainView | undefined> {
  const chain = await readChain(deps, chainKinds.ACCOUNT, accountId)
  if (chain !== undefined) return chain
  // An account may have an entry before it has an output.
  const { slot } = await deps.store.read.latestMilestone()
  if ((await deps.store.read.accountEntry(accountId, slot)) === undefined) return undefined
  const nothing = { length: 0, last: undefined, current: undefined } as const
  return { kind: chainKinds.ACCOUNT, chainId: accountId, slot, ...nothing }
}

/** An entry of the accounts ledger. */
export interface EntryView extends AccountEntry {
  /** The committed slot at whose end the entry is read. */
  readonly asOf: SlotIndex
}

/**
 * Reads the entry of an account, by default as of the newest slot; `undefined` if the account could neither issue blocks nor stake
 * then.
 */
export async function readEntry(
  { store }: Pick<Services, 'store'>,
  { chainId, slot: newest }: Pick<ChainView, 'chainId' | 'slot'>,
  asOf = newest,
): Promise<Result<EntryView | undefined, MilestoneNotCommitted>> {
  if (asOf > newest) {
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument: 'milestoneIndex', milestoneIndex: asOf, newest })
  }
  const entry = await store.read.accountEntry(chainId as AccountId, asOf)
  return ok(entry && { ...entry, delegationStake: delegationStakeOf(entry), asOf })
}
