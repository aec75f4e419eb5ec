import { totalOf } from '../../ledger/balances-of-address.ts'
import type { Hex } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'
import { addressText } from './address-text.ts'
import { type ManaOfAddress, manaOfAddress } from './mana-of-address.ts'

/** The distribution of base tokens over addresses, for the explorer. The store updates it with the log (rest.md 3.1). */

/** The addresses with the most base tokens, as of a committed slot. */
export interface RichestAddresses {
  readonly slot: SlotIndex
  /** Bech32 addresses, the richest first. */
  readonly top: readonly { readonly address: string; readonly balance: bigint }[]
}

export async function readRichest(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  limit: number,
): Promise<RichestAddresses> {
  const { slot, owners } = await store.read.richestAddresses(limit)
  const top = owners.map(({ address, total: balance }) => ({
    address: addressText(parameters.bech32Hrp, address),
    balance,
  }))
  return { slot, top }
}

/** The addresses that own at least `start` and less than `end` base tokens. */
export interface OwnedRange {
  readonly start: number
  readonly end: number
  readonly addressCount: number
  readonly totalBalance: bigint
}

/** Reads the ranges with at least one address, the poorest first, as of a committed slot. */
export async function readDistribution({ store }: Pick<Services, 'store'>): Promise<{
  readonly slot: SlotIndex
  readonly ranges: readonly OwnedRange[]
}> {
  const { slot, ranges } = await store.read.balanceRanges()
  return {
    slot,
    ranges: ranges.map(({ exponent, addresses: addressCount, total: totalBalance }) => ({
      start: 10 ** exponent,
      end: 10 ** (exponent + 1),
      addressCount,
      totalBalance,
    })),
  }
}

/** The base tokens of an address as of a committed slot. */
export interface OwnedTokens {
  readonly slot: SlotIndex
  readonly total: bigint
  readonly available: bigint
}

/** Reads the base tokens of an address; `undefined` if the address has no outputs. */
export async function readOwned(
  { store }: Pick<Services, 'store'>,
  address: Hex,
): Promise<OwnedTokens | undefined> {
  const { slot, balance } = await store.read.balance(address)
  if (balance.outputs === 0) return undefined
  return { slot, total: totalOf(balance), available: balance.available }
}

/** Reads base tokens and mana of an address as of one slot. The mana is missing if slots are committed faster than it is read. */
export async function readOwnedWithMana(
  deps: Pick<Services, 'store' | 'source' | 'parameters'>,
  address: Hex,
): Promise<{ readonly owned: OwnedTokens; readonly mana: ManaOfAddress } | undefined> {
  for (let attempt = 0; ; attempt++) {
    const owned = await readOwned(deps, address)
    if (owned === undefined) return undefined
    const mana = await manaOfAddress(deps, address)
    const isOfOneSlot = 'reason' in mana || mana.slot === owned.slot
    if (isOfOneSlot) return { owned, mana }
    if (attempt === attempts) return { owned, mana: { reason: 'LEDGER_MOVED' } }
  }
}

const attempts = 5
