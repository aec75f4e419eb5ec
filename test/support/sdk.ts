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
 * The official client of the protocol with the published mnemonic. It changes `BigInt.prototype` and ends its process if it
 * panics, so the gateway runs in another process.
 */
export interface Sdk {
  readonly client: Client
  readonly parameters: ProtocolParameters
  /** The Bech32 texts of the funded addresses. */
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

/** A payment from one funded address to another. The remainder and all mana return to the sender. */
export interface SdkPayment {
  readonly outputId: string
  readonly from: number
  readonly to: number
  readonly amount: bigint
  /** Whether the newest commitment is a context input. */
  readonly withCommitment: boolean
}

/** Creates a client of a gateway. */
export async function openSdk(url: string): Promise<Sdk> {
  // A gateway serves requests before its ledger accepts blocks.
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

  async function payment(plan: SdkPayment): Promise<SdkTransaction> {
    const { output } = await client.getOutput(plan.outputId)
    const { latestCommitment } = await client.getIssuance()
    const transactionId = Utils.transactionIdFromOutputId(plan.outputId)
    const creationSlot = latestCommitment.slot
    const made = Utils.computeSlotIndex(transactionId)
    const held = Utils.outputManaWithDecay(output, made, creationSlot, parameters)
    const mana = BigInt(held.stored) + BigInt(held.potential)
    const outputs = await Promise.all([
      basicOutput(plan.to, plan.amount, 0n),
      basicOutput(plan.from, BigInt(output.amount) - plan.amount, mana),
    ])
    const commitmentId = Utils.computeSlotCommitmentId(latestCommitment)
    const transaction = new Transaction(
      await client.getNetworkId(),
      creationSlot,
      plan.withCommitment ? [new CommitmentContextInput(commitmentId)] : [],
      [new UTXOInput(transactionId, Utils.outputIndexFromOutputId(plan.outputId))],
      [],
      outputs,
    )
    const hash = Utils.transactionSigningHash(transaction)
    const signature = await secrets.signEd25519(hash, keyPath(plan.from))
    const payload = new SignedTransactionPayload(transaction, [new SignatureUnlock(signature)])
    const id = Utils.transactionId(payload)
    const created = outputs.map((_, index) => Utils.computeOutputId(id, index))
    return { payload, transactionId: id, created }
  }

  function basicOutput(to: number, amount: bigint, mana: bigint) {
    const address = Utils.parseBech32Address(addresses[to] ?? '')
    // A variable avoids the check for excess members: the declared parameter type lacks `mana`, which the client reads.
    const output = {
      amount: amount.toString(),
      mana: mana.toString(),
      unlockConditions: [new AddressUnlockCondition(address)],
    }
    return client.buildBasicOutput(output)
  }

  return { client, parameters, addresses, block, payment }
}

/** Adds a `toJSON` that returns a list: the binding passes bytes to the client as JSON, and the client expects a list. */
export function asList(bytes: Uint8Array): Uint8Array {
  return Object.assign(bytes, { toJSON: () => Array.from(bytes) })
}

const coinType = 4218

function keyPath(addressIndex: number) {
  return { coinType, account: 0, change: 0, addressIndex }
}
