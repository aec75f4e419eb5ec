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

/** A user with one key of the published mnemonic. The official client makes all signatures. */
export interface SdkUser {
  /** BLAKE2b-256 of the public key. */
  readonly keyHash: string
  /** The Bech32 text of the address of the key. */
  readonly address: string
  /** A basic output that this key may spend. */
  basicOutput(amount: bigint, mana: bigint): Promise<BasicOutput>
  /** An implicit account of this key: a basic output that can become an account. */
  implicitAccount(amount: bigint, mana: bigint): Promise<BasicOutput>
  /** An account that this key owns and whose blocks it may issue without an expiry. */
  account(accountId: string, amount: bigint, mana: bigint): Promise<AccountOutput>
  /** A signed transaction that spends one output of this key, created in the slot of the newest commitment. */
  transaction(spending: SdkSpending): Promise<SdkTransaction>
  /** A signed block of an account that lists this key. */
  block(accountId: string, payload: Payload): Promise<SdkBlock>
}

/** The plan of a transaction. */
export interface SdkSpending {
  readonly spend: string
  /** Returns the created outputs, given the holdings of the spent output. */
  readonly outputs: (held: SdkHoldings) => Promise<readonly Output[]>
  readonly allot?: { readonly accountId: string; readonly mana: bigint }
  /** The account of the block issuance credit input; the transaction then also has the newest commitment as an input. */
  readonly creditsOf?: string
  readonly payload?: Payload
}

/** The amount and mana of a spent output in the slot of its spending. */
export interface SdkHoldings {
  readonly amount: bigint
  /** Stored and generated mana. */
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
  if (!(parsed instanceof Ed25519Address)) throw new Error(`${address} is not an Ed25519 address`)
  const keyHash = parsed.pubKeyHash
  const owned = [new AddressUnlockCondition(parsed)]

  // Variables avoid the check for excess members: the declared parameter types lack `mana`, which the client reads.
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

  async function transaction(spending: SdkSpending): Promise<SdkTransaction> {
    const { spend, allot, creditsOf } = spending
    const { output } = await client.getOutput(spend)
    const { latestCommitment } = await client.getIssuance()
    const { slot: creationSlot } = latestCommitment
    const spentId = Utils.transactionIdFromOutputId(spend)
    const made = Utils.computeSlotIndex(spentId)
    const held = Utils.outputManaWithDecay(output, made, creationSlot, parameters)
    const mana = BigInt(held.stored) + BigInt(held.potential)
    const outputs = await spending.outputs({ amount: BigInt(output.amount), mana })
    const commitment = new CommitmentContextInput(Utils.computeSlotCommitmentId(latestCommitment))
    const unsigned = new Transaction(
      await client.getNetworkId(),
      creationSlot,
      creditsOf === undefined ? [] : [commitment, new BlockIssuanceCreditContextInput(creditsOf)],
      [new UTXOInput(spentId, Utils.outputIndexFromOutputId(spend))],
      allot === undefined ? [] : [allotment(allot.accountId, allot.mana)],
      [...outputs],
      spending.payload,
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

/** An allotment with mana as text. The binding writes numbers of its own class in hex, which the client cannot read. */
function allotment(accountId: string, mana: bigint): ManaAllotment {
  return Object.assign(new ManaAllotment(accountId, mana), { mana: `${mana}` })
}

/** The maximum slot index, which also means "never". */
const maxSlot = 0xffff_ffff
