import { decayedMana } from '../../ledger/mana.ts'
import type { Hex } from '../../lib/hex.ts'
import { type Address, Ed25519Address } from '../../protocol/addresses.ts'
import {
  creationSlotOf,
  identifyTransaction,
  indexOf,
  networkId,
  transactionOf,
} from '../../protocol/ids.ts'
import { UtxoInput } from '../../protocol/inputs.ts'
import type { Keypair } from '../../protocol/keys.ts'
import type { BasicOutput } from '../../protocol/outputs.ts'
import { plainOutput } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { minimumAmount } from '../../protocol/score.ts'
import { SignedTransaction, type Transaction } from '../../protocol/transaction.ts'
import { SignatureUnlock } from '../../protocol/unlocks.ts'

/** Builds and signs a transfer: one basic output as input, one output for each receiver, and the change. */

/** The input and the payments of a transfer. */
export interface Transfer {
  readonly parameters: ProtocolParameters
  readonly from: Keypair
  /** An unspent output of `from` that has only an address condition. */
  readonly input: { readonly outputId: OutputId; readonly output: BasicOutput }
  readonly payments: readonly TransferPayment[]
  /** Creation slot of the transaction. */
  readonly slot: SlotIndex
}

export interface TransferPayment {
  readonly to: Address
  /** Base tokens. */
  readonly amount: bigint
}

/** The minimum amount of an output to this address. */
export function minAmount(parameters: ProtocolParameters, to: Address): bigint {
  return minimumAmount(parameters.storageScoreParameters, plainOutput(to, 0n, 0n))
}

/** Builds the signed payload. The change output keeps the stored mana; mana that the input generated is burned. */
export function signTransfer(transfer: Transfer): SignedTransaction {
  const { parameters, from, input, payments, slot } = transfer
  const owner: Address = { type: Ed25519Address.code, pubKeyHash: from.publicKeyHash }
  const created = creationSlotOf(input.outputId)
  const mana = decayedMana(parameters, input.output.mana, created, slot)
  const sent = payments.reduce((sum, { amount }) => sum + amount, 0n)
  const rest = input.output.amount - sent
  const change = rest === 0n ? [] : [plainOutput(owner, rest, mana.ok ? mana.value : 0n)]
  const transaction: Transaction = {
    networkId: networkId(parameters.networkName),
    creationSlot: slot,
    contextInputs: [],
    inputs: [
      {
        type: UtxoInput.code,
        transactionId: transactionOf(input.outputId),
        transactionOutputIndex: indexOf(input.outputId),
      },
    ],
    allotments: [],
    capabilities: mayBurnMana,
    payload: undefined,
    outputs: [...payments.map(({ to, amount }) => plainOutput(to, amount, 0n)), ...change],
  }
  const signature = from.sign(identifyTransaction(transaction).signingHash)
  return {
    type: SignedTransaction.code,
    transaction,
    unlocks: [{ type: SignatureUnlock.code, signature }],
  }
}

/** Bit 1 of the transaction capabilities. */
const mayBurnMana: Hex = '0x02'

/** The first output that a transfer of this amount from this address can spend. */
export function spendable(
  parameters: ProtocolParameters,
  outputs: readonly Transfer['input'][],
  wanted: { readonly from: Address; readonly amount: bigint },
): Transfer['input'] | undefined {
  const keep = minAmount(parameters, wanted.from)
  return outputs.find(({ output }) => {
    const plain = output.unlockConditions.length === 1 && output.features.length === 0
    const rest = output.amount - wanted.amount
    return plain && (rest === 0n || rest >= keep)
  })
}
