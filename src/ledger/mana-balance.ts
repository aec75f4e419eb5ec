import { hasCapability } from './capabilities.ts'
import { manaOfOutput } from './mana-of-output.ts'
import { storedManaOf } from './output-parts.ts'
import type { TransactionError } from './transaction-error.ts'
import type { WorkingSet } from './working-set.ts'

/** The mana rules: the mana of the inputs in the creation slot covers the outputs and allotments (ledger reference 7.4). */

/** Sums the mana of both sides for later rules. A sum that exceeds 64 bits is an error. */
export function manaSummed(set: WorkingSet): TransactionError | undefined {
  const { mana, inputs, transaction } = set
  for (const [index, input] of inputs.entries()) {
    const held = manaOfOutput(set.parameters, input, transaction.creationSlot)
    if (!held.ok) return { ...held.error, input: index }
    const sum = held.value.stored + held.value.potential
    mana.byInput.push(sum)
    mana.inputs += sum
  }
  for (const reward of set.rewards.values()) mana.inputs += reward
  if (mana.inputs >> 64n !== 0n) return { code: 'MANA_OVERFLOW', side: 'INPUTS' }
  const stored = transaction.outputs.reduce((sum, output) => sum + storedManaOf(output), 0n)
  mana.outputs = transaction.allotments.reduce((sum, allotment) => sum + allotment.mana, stored)
  if (mana.outputs >> 64n !== 0n) return { code: 'MANA_OVERFLOW', side: 'OUTPUTS' }
  return undefined
}

/** No input is created after the creation slot of the transaction. */
export function inputsCreatedBefore({
  inputs,
  transaction,
}: WorkingSet): TransactionError | undefined {
  const input = inputs.findIndex(({ creationSlot }) => creationSlot > transaction.creationSlot)
  const younger = inputs[input]
  if (younger === undefined) return undefined
  return { code: 'INPUT_CREATION_AFTER_TX_CREATION', input, createdSlot: younger.creationSlot }
}

/** The outputs hold at most the mana of the inputs. They hold less only if the transaction has the capability to burn mana. */
export function manaBalances({ mana, transaction }: WorkingSet): TransactionError | undefined {
  const { inputs, outputs } = mana
  if (inputs < outputs) return { code: 'INPUT_OUTPUT_MANA_MISMATCH', inputs, outputs }
  if (inputs > outputs && !hasCapability(transaction, 'burnMana')) {
    return { code: 'CAPABILITIES_MANA_BURNING_NOT_ALLOWED', burned: inputs - outputs }
  }
  return undefined
}
