import type { Hex } from '../../src/lib/hex.ts'
import type { MultiAddress } from '../../src/protocol/addresses.ts'
import {
  addressKey,
  identifyTransaction,
  indexOf,
  outputId,
  transactionOf,
} from '../../src/protocol/ids.ts'
import type { Keypair } from '../../src/protocol/keys.ts'
import type { Network } from '../../src/protocol/network.ts'
import type { BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type { CommitmentId, OutputId, SlotIndex } from '../../src/protocol/primitives.ts'
import type { SignedTransaction, Transaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'
import type { SignedPayment } from './wallet.ts'

/** Outputs, addresses and unlocks that nodes accept and the official SDK cannot create (codec reference 19). */

/** A multi address that requires the signatures of all keys. */
export function multiOf(keys: readonly Keypair[]): MultiAddress {
  const addresses = keys
    .map(
      ({ publicKeyHash: pubKeyHash }) => ({ address: { type: 0, pubKeyHash }, weight: 1 }) as const,
    )
    .sort((a, b) => (addressKey(a.address) < addressKey(b.address) ? -1 : 1))
  return { type: 40, addresses, threshold: keys.length }
}

/** The unlock of a multi address with the signatures of all keys, in the order of its members. */
export function multiUnlock(
  address: MultiAddress,
  keys: readonly Keypair[],
  message: Uint8Array,
): Unlock {
  const unlocks = address.addresses.map(({ address: member }) => {
    const key = keys.find(
      (one) => 'pubKeyHash' in member && one.publicKeyHash === member.pubKeyHash,
    )
    return key === undefined
      ? ({ type: 6 } as const)
      : ({ type: 0, signature: key.sign(message) } as const)
  })
  return { type: 5, unlocks }
}

/** An output that a multi address owns. */
export function heldBy(address: MultiAddress, amount: bigint): BasicOutput {
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

/** The inputs and outputs of a transaction, and the function that unlocks its inputs. */
export interface OddPayment {
  readonly spend: readonly OutputId[]
  readonly outputs: readonly Output[]
  readonly creationSlot: SlotIndex
  readonly capabilities?: Hex
  readonly commitment?: CommitmentId
  /** Returns one unlock for each input, from the signing hash. */
  unlock(signingHash: Uint8Array): readonly Unlock[]
}

/** Creates and signs a transaction. */
export function oddPaymentOf(network: Network, payment: OddPayment): SignedPayment {
  const { spend, outputs, creationSlot, capabilities = '0x02', commitment } = payment
  const transaction: Transaction = {
    networkId: network.id,
    creationSlot,
    contextInputs: commitment === undefined ? [] : [{ type: 0, commitmentId: commitment }],
    inputs: spend.map((id) => {
      return { type: 0, transactionId: transactionOf(id), transactionOutputIndex: indexOf(id) }
    }),
    allotments: [],
    capabilities,
    payload: undefined,
    outputs,
  }
  const { signingHash, transactionId } = identifyTransaction(transaction)
  const payload: SignedTransaction = { type: 1, transaction, unlocks: payment.unlock(signingHash) }
  return { payload, transactionId, created: outputs.map((_, i) => outputId(transactionId, i)) }
}
