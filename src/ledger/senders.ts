import type { Address } from '../protocol/addresses.ts'
import { Sender } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import { featureOf, underlyingAddress } from './output-parts.ts'
import type { TransactionError } from './transaction-error.ts'
import type { WorkingSet } from './working-set.ts'

/** The rule for sender features (ledger reference 5.2). */

/** The sender address of an output must have unlocked an input. */
export function sendersUnlocked(set: WorkingSet): TransactionError | undefined {
  for (const [output, created] of set.transaction.outputs.entries()) {
    const sender = featureOf(created, Sender)
    if (sender !== undefined && !isUnlocked(set, sender.address)) {
      return { code: 'SENDER_FEATURE_NOT_UNLOCKED', output }
    }
  }
  return undefined
}

/** Whether an address, or the address inside a restricted address, has unlocked an input. */
export function isUnlocked({ unlockedByAddress }: WorkingSet, address: Address): boolean {
  return unlockedByAddress.has(addressKey(underlyingAddress(address)))
}
