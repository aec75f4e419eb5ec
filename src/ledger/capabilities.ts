import { maskBits } from '../protocol/addresses.ts'
import type { Transaction } from '../protocol/transaction.ts'

/** What a transaction may do only when it says so: the bits of its capabilities (ledger reference 7.5). */
export const capabilityBits = {
  burnNativeTokens: 0,
  burnMana: 1,
  destroyAccounts: 2,
  destroyAnchors: 3,
  destroyFoundries: 4,
  destroyNfts: 5,
} as const

/** Whether the transaction says that it does this. */
export function hasCapability(
  transaction: Transaction,
  capability: keyof typeof capabilityBits,
): boolean {
  const bit = 2 ** capabilityBits[capability]
  return (maskBits(transaction.capabilities) & bit) !== 0
}
