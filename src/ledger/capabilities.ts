import { maskBits } from '../protocol/addresses.ts'
import type { Transaction } from '../protocol/transaction.ts'

/** The bits of the capabilities field. A transaction may do these things only if it sets their bit (ledger reference 7.5). */
export const capabilityBits = {
  burnNativeTokens: 0,
  burnMana: 1,
  destroyAccounts: 2,
  destroyAnchors: 3,
  destroyFoundries: 4,
  destroyNfts: 5,
} as const

/** Whether the transaction sets the bit of a capability. */
export function hasCapability(
  transaction: Transaction,
  capability: keyof typeof capabilityBits,
): boolean {
  const bit = 2 ** capabilityBits[capability]
  return (maskBits(transaction.capabilities) & bit) !== 0
}
