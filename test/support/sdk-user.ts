import {
  type AccountOutput,
  AddressUnlockCondition,
  type BasicOutput,
  BlockIssuanceCreditContextInput,
  BlockIssuerFeature,
  CommitmentContextInput,
  Ed25519Address,
  Ed25519PublicKeyHashBlockIssuerKey,
  ImplicitAccountCreationAddress,
  ManaAllotment,
  type Output,
  type Payload,
  SecretManager,
  SignatureUnlock,
  SignedTransactionPayload,
  Transaction,
  UTXOInput,
  Utils,
} from '@iota/sdk-wasm/node/lib/index.js'
import { developmentMnemonic } from '../../src/node/embedded/development.ts'
import type { Sdk, SdkBlock } from './sdk.ts'

/** Somebody with one key of the published mnemonic, whose signatures are all made by the official client. */
export interface SdkUser {
  /** BLAKE2b-256 of the public key. */
  readonly keyHash: string
  /** Bech32 text of the address of the key. */
  readonly address: string
  /** A basic output that this key may spend. */
  basicOutput(amount: bigint, mana: bigint): Promise<BasicOutput>
  /** A basic output that waits to become an account of this key. */
  implicitAccount(amount: bigint, mana: bigint): Promise<BasicOutput>
  /** An account that this key owns, and for which it may issue blocks for ever. */
  account(accountId: string, amount: bigint, mana: bigint): Promise<AccountOutput>
  /** A signed transaction that spends one output of this key, created in the slot of the newest commitment. */
  transaction(spending: SdkSpending): Promise<SdkTransaction>
  /** A signed block of an account that lists this key. */
  block(accountId: string, payload: Payload): Promise<SdkBlock>
}

/** What a transaction does. */
export interface SdkSpending {
  readonly spend: string
  /** What it creates, of the mana that the spent output has in the end. */
  readonly outputs: (held: SdkHoldings) => Promise<readonly Output[]>
  readonly allot?: { readonly accountId: string; readonly mana: bigint }
  /** The account whose credits are read, under the newest commitment. */
  readonly creditsOf?: string
  readonly payload?: Payload
}

/** What a spent output holds in the slot of its spending. */
export interface SdkHoldings {
  readonly amount: bigint
  /** Stored and generated. */
  readonly mana: bigint
}

/** A signed transaction, and the ids that the client computes for it. */
export interface SdkTransaction {
  readonly payload: SignedTransactionPayload
  readonly transactionId: string
  readonly created: readonly string[]
}

/** The holder of the first key of an account of the mnemonic. */
export async function sdkUser({ client, parameters }: Sdk, wallet: number): Promise<SdkUser> {
  const secrets = SecretManager.create({ mnemonic: developmentMnemonic })
  const keyPath = { coinType: 4218, account: wallet, change: 0, addressIndex: 0 }
  const [address = ''] = await secrets.generateEd25519Addresses({
    coinType: keyPath.coinType,
    accountIndex: wallet,
    range: { start: 0, end: 1 },
    bech32Hrp: parameters.bech32Hrp,
  })
  const parsed = Utils.parseBech32Address(address)
  if (!(parsed instanceof Ed25519Address)) throw new Error(`${address} is not of a key`)
  const keyHash = parsed.pubKeyHash
  const owned = [new AddressUnlockCondition(parsed)]

  // Variables, because the declared types of the parameters have no `mana`, which the client reads.
  function basicOutput(amount: bigint, mana: bigint) {
    const output = { amount: `${amount}`, mana: `${mana}`, unlockConditions: owned }
    return client.buildBasicOutput(output)
  }

  function implicitAccount(amount: bigint, mana: bigint) {
    const unlockConditions = [
      new AddressUnlockCondition(new ImplicitAccountCreationAddress(keyHash)),
    ]
    const output = { amount: `${amount}`, mana: `${mana}`, unlockConditions }
    return client.buildBasicOutput(output)
  }

  function account(accountId: string, amount: bigint, mana: bigint) {
    const key = new Ed25519PublicKeyHashBlockIssuerKey(keyHash)
    const features = [new BlockIssuerFeature(maxSlot, [key])]
    const output = {
      amount: `${amount}`,
      mana: `${mana}`,
      accountId,
      unlockConditions: owned,
      features,
    }
    return client.buildAccountOutput(output)
  }

  async function transaction(asked: SdkSpending): Promise<SdkTransaction> {
    const { spend, allot, creditsOf } = asked
    const { output } = await client.getOutput(spend)
    const { latestCommitment } = await client.getIssuance()
    const { slot: creationSlot } = latestCommitment
    const spentId = Utils.transactionIdFromOutputId(spend)
    const made = Utils.computeSlotIndex(spentId)
    const held = Utils.outputManaWithDecay(output, made, creationSlot, parameters)
    const mana = BigInt(held.stored) + BigInt(held.potential)
    const outputs = await asked.outputs({ amount: BigInt(output.amount), mana })
    const commitment = new CommitmentContextInput(Utils.computeSlotCommitmentId(latestCommitment))
    const unsigned = new Transaction(
      await client.getNetworkId(),
      creationSlot,
      creditsOf === undefined ? [] : [commitment, new BlockIssuanceCreditContextInput(creditsOf)],
      [new UTXOInput(spentId, Utils.outputIndexFromOutputId(spend))],
      allot === undefined ? [] : [allotment(allot.accountId, allot.mana)],
      [...outputs],
      asked.payload,
    )
    const hash = Utils.transactionSigningHash(unsigned)
    const unlock = new SignatureUnlock(await secrets.signEd25519(hash, keyPath))
    const payload = new SignedTransactionPayload(unsigned, [unlock])
    const transactionId = Utils.transactionId(payload)
    const created = outputs.map((_, index) => Utils.computeOutputId(transactionId, index))
    return { payload, transactionId, created }
  }

  async function block(accountId: string, payload: Payload): Promise<SdkBlock> {
    const unsigned = await client.buildBasicBlock(accountId, payload)
    const signed = await secrets.signBlock(unsigned, keyPath)
    return { block: signed, blockId: Utils.blockId(signed, parameters) }
  }

  return { keyHash, address, basicOutput, implicitAccount, account, transaction, block }
}

/** The binding writes numbers of its own class in hex, and the client then cannot read them: so as a text. */
function allotment(accountId: string, mana: bigint): ManaAllotment {
  return Object.assign(new ManaAllotment(accountId, mana), { mana: `${mana}` })
}

/** Also means "never". */
const maxSlot = 0xffff_ffff
