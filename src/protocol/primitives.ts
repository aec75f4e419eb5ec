import type { Hex } from '../lib/hex.ts'
import { fixedBytes, uint, uint64, uint256 } from './schema/scalars.ts'

/** Identifiers, hashes and numbers that all protocol types are made of (codec reference 1.1, 13.1). */

declare const brand: unique symbol

/** A hash or identifier of one kind: lower-case hex with a type that differs from other kinds. */
export type Id<Kind extends string> = Hex & { readonly [brand]: Kind }

function idOf<const Kind extends string>(kind: Kind, size: number, about: string) {
  return fixedBytes<Id<Kind>>(kind, size, about)
}

function chainIdOf<const Kind extends string>(kind: Kind) {
  return idOf(kind, 32, 'hash of the id of the output that created the chain')
}

/** BLAKE2b-256 over header hash, body hash and signature, then the slot. */
export const BlockId = idOf('BlockId', 36, '32 bytes of hash, then the slot')
export type BlockId = Id<'BlockId'>

export const TransactionId = idOf('TransactionId', 36, '32 bytes of hash, then the creation slot')
export type TransactionId = Id<'TransactionId'>

export const CommitmentId = idOf('CommitmentId', 36, 'hash of the slot commitment, then its slot')
export type CommitmentId = Id<'CommitmentId'>

export const OutputId = idOf('OutputId', 38, 'transaction id, then the output index')
export type OutputId = Id<'OutputId'>

/** H(output id) of the output that created the account; zero in that output itself. */
export const AccountId = chainIdOf('AccountId')
export type AccountId = Id<'AccountId'>

/** H(output id) of the output that created the anchor; zero in that output itself. */
export const AnchorId = chainIdOf('AnchorId')
export type AnchorId = Id<'AnchorId'>

/** H(output id) of the output that created the NFT; zero in that output itself. */
export const NftId = chainIdOf('NftId')
export type NftId = Id<'NftId'>

/** H(output id) of the output that created the delegation; zero in that output itself. */
export const DelegationId = chainIdOf('DelegationId')
export type DelegationId = Id<'DelegationId'>

/** Account address, serial number and token scheme type; also the id of the foundry's native token. */
export const FoundryId = idOf('FoundryId', 38, 'account address, serial number, token scheme type')
export type FoundryId = Id<'FoundryId'>

export const Hash = fixedBytes('Hash', 32, '32 bytes of a hash')

export const PublicKey = fixedBytes('PublicKey', 32, 'Ed25519 public key')

export const SignatureBytes = fixedBytes('SignatureBytes', 64, 'Ed25519 signature')

export const u8 = uint('UInt8', 8)
export const u16 = uint('UInt16', 16)
export const u32 = uint('UInt32', 32)
export const u64 = uint64('UInt64')
export const u256 = uint256('UInt256')

/** A slot, 0 to 2^32 - 1. */
export const SlotIndex = uint('SlotIndex', 32, 'a slot, 0 to 4294967295')
export type SlotIndex = number

/** An epoch, 0 to 2^32 - 1. */
export const EpochIndex = uint('EpochIndex', 32, 'an epoch, 0 to 4294967295')
export type EpochIndex = number

/** Maximum number of context inputs, inputs, allotments, outputs and unlocks of a transaction. */
export const maxPerTransaction = 128

/** The largest amount of base tokens or of mana. */
export const maxUint64 = 2n ** 64n - 1n

export const BaseToken = uint64('BaseToken', 'base tokens in the smallest unit')

export const Mana = uint64('Mana', 'mana')
