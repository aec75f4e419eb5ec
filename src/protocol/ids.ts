import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import {
  AccountAddress,
  type Address,
  AnchorAddress,
  Address as AnyAddress,
  Ed25519Address,
  ImplicitAccountCreationAddress,
  MultiAddress,
  NftAddress,
  RestrictedAddress,
} from './addresses.ts'
import {
  BasicBlockBody as AnyBasicBlockBody,
  type BasicBlockBody,
  headerSize,
  signatureSize,
} from './block.ts'
import { SlotCommitment } from './commitment.ts'
import { blake2b256 } from './hash.ts'
import { merkleRoot } from './merkle.ts'
import {
  AccountOutput,
  AnchorOutput,
  Output as AnyOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
  type Output,
} from './outputs.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  FoundryId,
  OutputId,
  SlotIndex,
  TransactionId,
} from './primitives.ts'
import type { AnyVariant } from './schema/composites.ts'
import { encode } from './schema/schema.ts'
import {
  Transaction as AnyTransaction,
  type SignedTransaction,
  type Transaction,
  Unlocks,
} from './transaction.ts'

/** All identifiers and their hashes (codec reference 13). H is BLAKE2b-256. */

export interface BlockIdentity {
  readonly headerHash: Hex
  readonly bodyHash: Hex
  readonly blockId: BlockId
  /** The 64 bytes that the issuer signs. */
  readonly signingInput: Uint8Array
}

/** Computes the hashes of a block from its bytes as received; `slot` is the slot of its issuing time. */
export function identifyBlock(bytes: Uint8Array, slot: SlotIndex): BlockIdentity {
  const bodyEnd = bytes.length - signatureSize
  const header = blake2b256(bytes.subarray(0, headerSize))
  const body = blake2b256(bytes.subarray(headerSize, bodyEnd))
  const id = blake2b256(header, body, bytes.subarray(bodyEnd))
  const signingInput = new Uint8Array(64)
  signingInput.set(header, 0)
  signingInput.set(body, 32)
  return {
    headerHash: bytesToHex(header),
    bodyHash: bytesToHex(body),
    blockId: withSlot(id, slot) as BlockId,
    signingInput,
  }
}

export interface TransactionIdentity {
  readonly transactionCommitment: Hex
  readonly outputCommitment: Hex
  readonly transactionId: TransactionId
  /** The 32 bytes that every signature unlock signs. */
  readonly signingHash: Uint8Array
  /** The serialized outputs, in order. */
  readonly outputBytes: readonly Uint8Array[]
}

/**
 * Computes the hashes of a transaction from its bytes as received, or else from its encoding. The id does not depend on the
 * unlocks.
 */
export function identifyTransaction(
  transaction: Transaction,
  bytes: Uint8Array = encode(AnyTransaction, transaction),
): TransactionIdentity {
  const outputBytes = outputsWithin(bytes, transaction.outputs)
  const [first] = outputBytes
  // The essence ends where the count of the outputs begins.
  const essenceSize = first === undefined ? 0 : first.byteOffset - bytes.byteOffset - 2
  const transactionCommitment = blake2b256(bytes.subarray(0, essenceSize))
  const outputCommitment = merkleRoot(outputBytes)
  const id = blake2b256(transactionCommitment, outputCommitment)
  return {
    transactionCommitment: bytesToHex(transactionCommitment),
    outputCommitment: bytesToHex(outputCommitment),
    transactionId: withSlot(id, transaction.creationSlot) as TransactionId,
    signingHash: blake2b256(bytes),
    outputBytes,
  }
}

/** The bytes of a transaction within the bytes of its basic block. */
export function transactionBytesIn(
  blockBytes: Uint8Array,
  body: BasicBlockBody,
  payload: SignedTransaction,
): Uint8Array {
  const { strongParents, weakParents, shallowLikeParents } = AnyBasicBlockBody.fields
  const parentsSize =
    strongParents.size(body.strongParents) +
    weakParents.size(body.weakParents) +
    shallowLikeParents.size(body.shallowLikeParents)
  const [typeSize, lengthSize, manaSize] = [1, 4, 8]
  const start = headerSize + typeSize + parentsSize + lengthSize + typeSize
  const end = blockBytes.length - signatureSize - manaSize - Unlocks.size(payload.unlocks)
  return blockBytes.subarray(start, end)
}

/** The bytes of the outputs, which are at the end of a transaction. */
function outputsWithin(bytes: Uint8Array, outputs: readonly Output[]): readonly Uint8Array[] {
  const sizes = outputs.map((output) => AnyOutput.size(output))
  let at = sizes.reduce((start, size) => start - size, bytes.length)
  return sizes.map((size) => {
    at += size
    return bytes.subarray(at - size, at)
  })
}

/** Computes the id of a transaction from its commitments. */
export function transactionIdOf(
  transactionCommitment: Hex,
  outputCommitment: Hex,
  creationSlot: SlotIndex,
): TransactionId {
  const id = blake2b256(hexToBytes(transactionCommitment), hexToBytes(outputCommitment))
  return withSlot(id, creationSlot) as TransactionId
}

/** The id of one output of a transaction. */
export function outputId(transactionId: TransactionId, index: number): OutputId {
  return `${transactionId}${littleEndian(index, 2)}` as OutputId
}

/** The transaction that an output belongs to. */
export function transactionOf(id: OutputId): TransactionId {
  return id.slice(0, 2 + 72) as TransactionId
}

/** The index of an output in its transaction. */
export function indexOf(id: OutputId): number {
  return hexToNumber(id.slice(-4))
}

/** Orders the outputs of a transaction by index. */
export function byIndex(a: { readonly outputId: OutputId }, b: { readonly outputId: OutputId }) {
  return indexOf(a.outputId) - indexOf(b.outputId)
}

/** The slot at the end of a block, transaction or commitment id. */
export function slotOfId(id: BlockId | TransactionId | CommitmentId): SlotIndex {
  return hexToNumber(id.slice(-8))
}

/** The creation slot of an output, from which its mana is counted. */
export function creationSlotOf(id: OutputId): SlotIndex {
  return slotOfId(transactionOf(id))
}

/** The id of an account, anchor, NFT or delegation that this output creates. */
export function chainIdOf(id: OutputId): Hex {
  return bytesToHex(blake2b256(hexToBytes(id)))
}

/** The id of its chain in an output; zero if the output begins the chain, `undefined` if it is a basic output. */
export function writtenChainId(output: Output): Hex | undefined {
  switch (output.type) {
    case BasicOutput.code:
      return undefined
    case AccountOutput.code:
      return output.accountId
    case AnchorOutput.code:
      return output.anchorId
    case FoundryOutput.code:
      return present(foundryId(output), 'the account of a foundry')
    case NftOutput.code:
      return output.nftId
    case DelegationOutput.code:
      return output.delegationId
  }
}

/** The id of a foundry, which is also that of its native token. */
export function foundryId(foundry: FoundryOutput): FoundryId | undefined {
  const account = foundry.unlockConditions[0]?.address.accountId
  return account && foundryIdFrom(account, foundry.serialNumber, foundry.tokenScheme.type)
}

/** The id of the foundry with a serial number under an account. */
export function foundryIdFrom(account: AccountId, serial: number, scheme: number): FoundryId {
  return `${addressKeyPrefix(AccountAddress)}${account.slice(2)}${littleEndian(serial, 4)}${littleEndian(scheme, 1)}` as FoundryId
}

/** The id of a slot commitment. */
export function commitmentId(commitment: SlotCommitment): CommitmentId {
  return withSlot(blake2b256(encode(SlotCommitment, commitment)), commitment.slot) as CommitmentId
}

/** H(public key), the content of an Ed25519 address and of a block issuer key. */
export function publicKeyHash(publicKey: Hex): Hex {
  return bytesToHex(blake2b256(hexToBytes(publicKey)))
}

/** First 8 bytes of the hash of the network name. */
export function networkId(networkName: string): bigint {
  return Buffer.from(blake2b256(Buffer.from(networkName))).readBigUInt64LE(0)
}

/** The reference of a multi address for texts and lookups, 33 bytes: its type and its hash. */
export function multiAddressReference(address: MultiAddress): Hex {
  return `${addressKeyPrefix(MultiAddress)}${bytesToHex(blake2b256(encode(MultiAddress, address))).slice(2)}`
}

/** The lookup key of an address: its serialization, or the reference of a multi address. */
export function addressKey(address: Address): Hex {
  switch (address.type) {
    case Ed25519Address.code:
      return `0x00${address.pubKeyHash.slice(2)}`
    case AccountAddress.code:
      return `0x08${address.accountId.slice(2)}`
    case NftAddress.code:
      return `0x10${address.nftId.slice(2)}`
    case AnchorAddress.code:
      return `0x18${address.anchorId.slice(2)}`
    case ImplicitAccountCreationAddress.code:
      return `0x20${address.pubKeyHash.slice(2)}`
    case MultiAddress.code:
      return multiAddressReference(address)
    case RestrictedAddress.code:
      return bytesToHex(encode(AnyAddress, address))
  }
}

/** The prefix of the keys of all addresses of a kind. */
export function addressKeyPrefix(kind: AnyVariant): Hex {
  return `0x${kind.code.toString(16).padStart(2, '0')}`
}

/** A hash with a slot behind it, which is the form of the ids of blocks, transactions and commitments. */
export function withSlot(hash: Uint8Array, slot: SlotIndex): Hex {
  return `${bytesToHex(hash)}${littleEndian(slot, 4)}`
}

/** Digits of a number, lowest byte first. */
function littleEndian(value: number, size: 1 | 2 | 4): string {
  numberBytes.writeUInt32LE(value)
  return numberBytes.toString('hex', 0, size)
}

const numberBytes = Buffer.alloc(4)

function hexToNumber(digits: string): number {
  let value = 0
  for (let at = digits.length - 2; at >= 0; at -= 2) {
    value = value * 256 + Number.parseInt(digits.slice(at, at + 2), 16)
  }
  return value
}
