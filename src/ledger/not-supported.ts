import { addressesWithin } from '../protocol/score.ts'
import type { Transaction } from '../protocol/transaction.ts'
import type { NotSupportedYet } from './transaction-error.ts'

/**
 * What the rules judge but the ledger behind them does not keep yet: refused by name before it comes to them.
 * Kept are basic outputs with all their conditions and features; read are commitment inputs.
 */

/** The first part of a transaction that is not kept, as far as it tells without the outputs it spends. */
export function unsupportedPart(transaction: Transaction): NotSupportedYet | undefined {
  for (const [index, input] of transaction.contextInputs.entries()) {
    if (input.type !== 0) return notSupported(`contextInputs.${index}`)
  }
  for (const [index, output] of transaction.outputs.entries()) {
    if (output.type !== 0) return notSupported(`outputs.${index}`)
    // Such an output is an account to be, and the accounts ledger would have to know it.
    if (addressesWithin(output).some((address) => address.type === 32)) {
      return notSupported(`outputs.${index}.unlockConditions.0.address`)
    }
  }
  return undefined
}

function notSupported(place: string): NotSupportedYet {
  return { code: 'NOT_SUPPORTED_YET', path: `transaction.${place}` }
}
