import {
  AddressUnlockCondition,
  type Block,
  Client,
  CommitmentContextInput,
  type Payload,
  type ProtocolParameters,
  SecretManager,
  SignatureUnlock,
  SignedTransactionPayload,
  Transaction,
  UTXOInput,
  Utils,
} from '@iota/sdk-wasm/node/lib/index.js'
import { developmentMnemonic } from '../../src/node/embedded/development.ts'
import { issuer, untilHealth } from './wallet.ts'

/**
 * The official client of the protocol, on the published mnemonic. It changes `BigInt.prototype` and ends its process
 * when it panics, so a gateway that it asks runs in another process.
 */
export interface Sdk {
  readonly client: Client
  readonly parameters: ProtocolParameters
  /** Bech32 texts of the funded addresses. */
  readonly addresses: readonly string[]
  /** A signed block around a payload, and the id that the client computes for it. */
  block(payload: Payload): Promise<SdkBlock>
  /** A signed transaction, and the ids that the client computes for it. */
  payment(payment: SdkPayment): Promise<SdkTransaction>
}

/** A signed block. */
export interface SdkBlock {
  readonly block: Block
  readonly blockId: string
}

/** A signed transaction. */
export interface SdkTransaction {
  readonly payload: SignedTransactionPayload
  readonly transactionId: string
  readonly created: readonly string[]
}

/** An amount sent from one funded address to another, with the rest and all mana going back. */
export interface SdkPayment {
  readonly outputId: string
  readonly from: number
  readonly to: number
  readonly amount: bigint
  /** Whether the newest commitment is read as a context input. */
  readonly withCommitment: boolean
}

/** Makes a client of a gateway. */
export async function openSdk(url: string): Promise<Sdk> {
  // A gateway serves before the ledger takes blocks.
  await untilHealth(url)
  const client = await Client.create({ nodes: [url] })
  const secrets = SecretManager.create({ mnemonic: developmentMnemonic })
  const parameters = await client.getProtocolParameters()
  const addresses = await secrets.generateEd25519Addresses({
    coinType,
    accountIndex: 0,
    range: { start: 0, end: 10 },
    bech32Hrp: parameters.bech32Hrp,
  })

  async function block(payload: Payload): Promise<SdkBlock> {
    const unsigned = await client.buildBasicBlock(issuer.accountId, payload)
    const signed = await secrets.signBlock(unsigned, keyPath(0))
    return { block: signed, blockId: Utils.blockId(signed, parameters) }
  }

  async function payment(asked: SdkPayment): Promise<SdkTransaction> {
    const { output } = await client.getOutput(asked.outputId)
    const { latestCommitment } = await client.getIssuance()
    const transactionId = Utils.transactionIdFromOutputId(asked.outputId)
    const creationSlot = latestCommitment.slot
    const made = Utils.computeSlotIndex(transactionId)
    const held = Utils.outputManaWithDecay(output, made, creationSlot, parameters)
    const mana = BigInt(held.stored) + BigInt(held.potential)
    const outputs = await Promise.all([
      basicOutput(asked.to, asked.amount, 0n),
      basicOutput(asked.from, BigInt(output.amount) - asked.amount, mana),
    ])
    const commitmentId = Utils.computeSlotCommitmentId(latestCommitment)
    const transaction = new Transaction(
      await client.getNetworkId(),
      creationSlot,
      asked.withCommitment ? [new CommitmentContextInput(commitmentId)] : [],
      [new UTXOInput(transactionId, Utils.outputIndexFromOutputId(asked.outputId))],
      [],
      outputs,
    )
    const hash = Utils.transactionSigningHash(transaction)
    const signature = await secrets.signEd25519(hash, keyPath(asked.from))
    const payload = new SignedTransactionPayload(transaction, [new SignatureUnlock(signature)])
    const id = Utils.transactionId(payload)
    const created = outputs.map((_, index) => Utils.computeOutputId(id, index))
    return { payload, transactionId: id, created }
  }

  function basicOutput(to: number, amount: bigint, mana: bigint) {
    const address = Utils.parseBech32Address(addresses[to] ?? '')
    // A variable, because the declared type of the parameter has no `mana`, which the client reads.
    const output = {
      amount: amount.toString(),
      mana: mana.toString(),
      unlockConditions: [new AddressUnlockCondition(address)],
    }
    return client.buildBasicOutput(output)
  }

  return { client, parameters, addresses, block, payment }
}

/** Bytes in the form that the binding can hand to the client: it writes them as JSON, and expects a list. */
export function asList(bytes: Uint8Array): Uint8Array {
  return Object.assign(bytes, { toJSON: () => Array.from(bytes) })
}

const coinType = 4218

function keyPath(addressIndex: number) {
  return { coinType, account: 0, change: 0, addressIndex }
}
