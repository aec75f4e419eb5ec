import type { BalanceRange } from '../../ledger/balance-ranges.ts'
import { type Balance, noBalance } from '../../ledger/balances-of-address.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { OwnedTokens } from '../../store/contract/view.ts'
import type { UpdateClass } from '../../store/rows.ts'
import type { MilestoneNotCommitted } from '../feed/follow-milestones.ts'
import { keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import type { UpdatesNotKept } from '../slots/explorer-lists.ts'
import { defaultPageSize } from '../updates/list-ledger-updates.ts'

/** Reads balances, native tokens and update counts of addresses. */

export type { BalanceRange } from '../../ledger/balance-ranges.ts'
export type { OwnedTokens } from '../../store/contract/view.ts'

/** Base tokens as of the end of a committed slot. */
export interface AddressBalance extends Balance {
  readonly slot: SlotIndex
}

/** Reads the base tokens of many addresses, in one statement. */
export async function readBalances(
  { store }: Pick<Services, 'store'>,
  addresses: readonly Hex[],
): Promise<ReadonlyMap<Hex, AddressBalance>> {
  const { slot, balances } = await store.read.balances(addresses)
  return new Map(
    addresses.map((address) => [address, { slot, ...(balances.get(address) ?? noBalance) }]),
  )
}

/** Reads the number of addresses in each range of balances. */
export async function readBalanceDistribution({
  store,
}: Pick<Services, 'store'>): Promise<readonly BalanceRange[]> {
  return (await store.read.balanceRanges()).ranges
}

/** Lists the native tokens of an address, by id. */
export function listNativeTokens(
  { store }: Pick<Services, 'store'>,
  address: Hex,
  args: Omit<PageArguments, 'sort'>,
): Paged<OwnedTokens> {
  const list: KeysetList<OwnedTokens> = {
    cursors: tokenCursors,
    whole: { above: ['0x'], below: [`0x${'ff'.repeat(39)}`] },
    defaultSize: defaultPageSize,
    positionOf: ({ tokenId }) => [tokenId],
    read: (part, page) => store.read.tokenBalances(address, part, page),
  }
  return readKeysetPage(list, { ...args, sort: 'OLDEST' })
}

/** The ids of foundries have 38 bytes. */
const tokenCursors = keysetCursors({ list: 'token', values: [38] })

/** Reads the total base tokens of an address at the end of a milestone; two index lookups. */
export async function readTotalAt(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  address: Hex,
  milestoneIndex: SlotIndex,
): Promise<Result<bigint, MilestoneNotCommitted | UpdatesNotKept>> {
  const total = await store.read.totalAt(address, milestoneIndex)
  if (total !== undefined) return ok(total)
  const { slot: newest, prunedSeq } = await store.read.logTip()
  if (milestoneIndex > newest) {
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument: 'milestoneIndex', milestoneIndex, newest })
  }
  // Balances before the genesis are 0; balances before the first kept row of the log are not known.
  if (prunedSeq === 0 || milestoneIndex < parameters.genesisSlot) return ok(0n)
  return err({ code: 'UPDATES_NOT_KEPT', slot: milestoneIndex })
}

/** Reads the number of updates of an address in a class. */
export async function countUpdates(
  { store }: Pick<Services, 'store'>,
  address: Hex,
  updateClass: UpdateClass,
): Promise<number> {
  return (await store.read.addressTip(address, updateClass)).ordinal
}
