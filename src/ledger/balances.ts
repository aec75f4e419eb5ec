import type { Hex } from '../lib/hex.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { BasicOutput } from '../protocol/outputs.ts'
import { AddressUnlock, StorageDepositReturn } from '../protocol/unlock-conditions.ts'
import { conditionOf } from './output-parts.ts'
import type { TransactionError } from './transaction-error.ts'
import type { WorkingSet } from './working-set.ts'

/** The rules for base tokens and storage deposits (ledger reference 5.3). */

/** The sums of base tokens of inputs and outputs must be equal. */
export function baseTokensBalance({
  inputs,
  transaction,
}: WorkingSet): TransactionError | undefined {
  const spent = inputs.reduce((sum, { output }) => sum + output.amount, 0n)
  const created = transaction.outputs.reduce((sum, { amount }) => sum + amount, 0n)
  if (spent === created) return undefined
  return { code: 'INPUT_OUTPUT_BASE_TOKEN_MISMATCH', inputs: spent, outputs: created }
}

/** Storage deposits must be returned, in outputs to the return address without any other condition or feature. */
export function storageDepositsReturned(set: WorkingSet): TransactionError | undefined {
  const dueByAddress = returnsDue(set)
  if (dueByAddress.size === 0) return undefined
  const returnedByAddress = returns(set)
  for (const [returnAddress, due] of dueByAddress) {
    const returned = returnedByAddress.get(returnAddress)
    // Even when 0 is due, the node requires an output to the return address.
    if (returned === undefined || returned < due) {
      const code = 'RETURN_AMOUNT_NOT_FUL_FILLED'
      return { code, returnAddress, due, returned: returned ?? 0n }
    }
  }
  return undefined
}

/** The deposits due by return address, as written: a restricted address differs from the address inside it. */
function returnsDue({ inputs, unlockedByAddress }: WorkingSet): Map<Hex, bigint> {
  const dueByAddress = new Map<Hex, bigint>()
  for (const [index, { output }] of inputs.entries()) {
    const condition = conditionOf(output, StorageDepositReturn)
    if (condition === undefined) continue
    const address = addressKey(condition.returnAddress)
    const unlocked = unlockedByAddress.get(address)
    // The return address spends the output itself, so it already has the deposit.
    if (unlocked?.input === index || unlocked?.referringInputs.includes(index)) continue
    dueByAddress.set(address, (dueByAddress.get(address) ?? 0n) + condition.amount)
  }
  return dueByAddress
}

/** The base tokens in plain outputs by address. */
function returns({ transaction }: WorkingSet): Map<Hex, bigint> {
  const returnedByAddress = new Map<Hex, bigint>()
  for (const output of transaction.outputs) {
    if (
      !is(BasicOutput, output) ||
      output.unlockConditions.length > 1 ||
      output.features.length > 0
    ) {
      continue
    }
    const holder = conditionOf(output, AddressUnlock)
    if (holder === undefined) continue
    const address = addressKey(holder.address)
    returnedByAddress.set(address, (returnedByAddress.get(address) ?? 0n) + output.amount)
  }
  return returnedByAddress
}
