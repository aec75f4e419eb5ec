import { bytesToHex, type Hex } from '../lib/hex.ts'
import { ImplicitAccountCreationAddress } from '../protocol/addresses.ts'
import { BlockIssuer, Staking } from '../protocol/features.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, BasicOutput, type Output } from '../protocol/outputs.ts'
import type { AccountId, EpochIndex, OutputId, SlotIndex } from '../protocol/primitives.ts'
import { Reader } from '../protocol/schema/reader.ts'
import { Writer } from '../protocol/schema/writer.ts'
import { maxSlot } from '../protocol/slots.ts'
import { AddressUnlock } from '../protocol/unlock-conditions.ts'
import { chainId, isImplicitAccount } from './chains.ts'
import { conditionOf, featureOf } from './output-parts.ts'

/** The entries of the accounts ledger: which accounts may issue blocks, their keys and their credits (ledger reference 12.2). */

/** The entry of an account that may issue blocks, or that received mana or a delegation before it existed. */
export interface AccountEntry {
  readonly accountId: AccountId
  /** Block issuance credits in mana as of `updatedSlot`, without later decay. Negative credits are a debt. */
  readonly credits: bigint
  /** The slot of the last change of the credits. */
  readonly updatedSlot: SlotIndex
  /** The last slot in which the account may issue blocks. */
  readonly expirySlot: SlotIndex
  /** The account's output; all zeros without an output. */
  readonly outputId: OutputId
  /** Hashes of the Ed25519 keys that may sign its blocks, sorted. */
  readonly keyHashes: readonly Hex[]
  readonly validatorStake: bigint
  /**
   * Base tokens of all running delegations to the account; negative if delegations ended that a former, deleted entry had counted.
   * Rules and answers use `delegationStakeOf`.
   */
  readonly delegationStake: bigint
  readonly fixedCost: bigint
  readonly stakeEndEpoch: EpochIndex
  /** The highest protocol version that a validation block of the account has named. */
  readonly supportedVersion: number
  /** The hash of the parameters of that version. */
  readonly supportedHash: Hex
}

/** The members of an entry that the account's output determines. */
export type AccountTerms = Pick<
  AccountEntry,
  'outputId' | 'expirySlot' | 'keyHashes' | 'validatorStake' | 'fixedCost' | 'stakeEndEpoch'
>

/** An empty entry, for an account id that is used before the account exists. */
export function emptyEntry(accountId: AccountId, slot: SlotIndex): AccountEntry {
  return {
    accountId,
    credits: 0n,
    updatedSlot: slot,
    expirySlot: 0,
    outputId: zeroOutputId,
    keyHashes: [],
    validatorStake: 0n,
    delegationStake: 0n,
    fixedCost: 0n,
    stakeEndEpoch: 0,
    supportedVersion: 0,
    supportedHash: zeroHash,
  }
}

/**
 * The base tokens that are delegated to an account, at least 0. The end of an account deletes its entry with the sum of its delegations, and
 * each of them is subtracted later nevertheless. A node stores the negative sum as an unsigned number, and so do the bytes of the entry.
 */
export function delegationStakeOf({
  delegationStake,
}: Pick<AccountEntry, 'delegationStake'>): bigint {
  return delegationStake > 0n ? delegationStake : 0n
}

/** The id of the account that an output is or will become; `undefined` for other outputs. */
export function accountOf(output: Output, outputId: OutputId): AccountId | undefined {
  const isAccount = is(AccountOutput, output) || isImplicitAccount(output)
  return isAccount ? (chainId(output, outputId) as AccountId) : undefined
}

/** The members of an entry that the account's output determines; `undefined` for an account that can neither issue nor stake. */
export function accountTerms(output: Output, outputId: OutputId): AccountTerms | undefined {
  if (is(BasicOutput, output)) return implicitTerms(output, outputId)
  const issuer = featureOf(output, BlockIssuer)
  const staking = featureOf(output, Staking)
  if (issuer === undefined && staking === undefined) return undefined
  return {
    outputId,
    expirySlot: issuer?.expirySlot ?? 0,
    keyHashes: issuer?.blockIssuerKeys.map(({ pubKeyHash }) => pubKeyHash) ?? [],
    validatorStake: staking?.stakedAmount ?? 0n,
    fixedCost: staking?.fixedCost ?? 0n,
    stakeEndEpoch: staking?.endEpoch ?? 0,
  }
}

/** An implicit account issues with the key of its address and does not expire. */
function implicitTerms(output: Output, outputId: OutputId): AccountTerms | undefined {
  const address = conditionOf(output, AddressUnlock)?.address
  if (!is(ImplicitAccountCreationAddress, address)) return undefined
  return {
    outputId,
    expirySlot: maxSlot,
    keyHashes: [address.pubKeyHash],
    validatorStake: 0n,
    fixedCost: 0n,
    stakeEndEpoch: 0,
  }
}

/** Serializes an entry. The account root of a commitment is computed from these bytes. */
export function accountEntryBytes(entry: AccountEntry): Uint8Array {
  const writer = new Writer(256)
  writer.hex(entry.accountId)
  writer.u64(BigInt.asUintN(64, entry.credits))
  writer.u32(entry.updatedSlot)
  writer.u32(entry.expirySlot)
  writer.hex(entry.outputId)
  writer.u8(entry.keyHashes.length)
  for (const hash of entry.keyHashes) {
    writer.u8(ed25519KeyHash)
    writer.hex(hash)
  }
  writer.u64(entry.validatorStake)
  writer.u64(BigInt.asUintN(64, entry.delegationStake))
  writer.u64(entry.fixedCost)
  writer.u32(entry.stakeEndEpoch)
  writer.u8(entry.supportedVersion)
  writer.hex(entry.supportedHash)
  return writer.bytes()
}

/** Deserializes an entry that `accountEntryBytes` wrote. Does not validate the bytes. */
export function accountEntryFrom(bytes: Uint8Array): AccountEntry {
  const reader = new Reader(bytes)
  const accountId = reader.hex(32) as AccountId
  const credits = BigInt.asIntN(64, reader.u64())
  const updatedSlot = reader.u32()
  const expirySlot = reader.u32()
  const outputId = reader.hex(38) as OutputId
  const keyHashes = Array.from({ length: reader.u8() }, () => {
    reader.u8()
    return reader.hex(32)
  })
  const validatorStake = reader.u64()
  const delegationStake = BigInt.asIntN(64, reader.u64())
  const fixedCost = reader.u64()
  const stakeEndEpoch = reader.u32()
  const supportedVersion = reader.u8()
  const supportedHash = reader.hex(32)
  const stakes = { validatorStake, delegationStake, fixedCost, stakeEndEpoch }
  const signal = { supportedVersion, supportedHash }
  return { accountId, credits, updatedSlot, expirySlot, outputId, keyHashes, ...stakes, ...signal }
}

/** Converts changed entries to changes of the trie whose root is the account root of a commitment (ledger reference 11.2). */
export function accountTrieChanges(
  changed: Iterable<readonly [AccountId, AccountEntry | undefined]>,
): ReadonlyMap<AccountId, Uint8Array | undefined> {
  const valueByKey = new Map<AccountId, Uint8Array | undefined>()
  for (const [accountId, entry] of changed) {
    valueByKey.set(accountId, entry && accountEntryBytes(entry))
  }
  return valueByKey
}

/** Type code of a block issuer key that holds the hash of an Ed25519 key. */
const ed25519KeyHash = 0

const zeroOutputId = bytesToHex(new Uint8Array(38)) as OutputId
const zeroHash = bytesToHex(new Uint8Array(32))
