import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import {
  AccountAddress,
  type Address,
  AnchorAddress,
  Ed25519Address,
  ImplicitAccountCreationAddress,
  MultiAddress,
  NftAddress,
  type RestrictedAddress,
} from '../protocol/addresses.ts'
import { addressKey, addressKeyPrefix, publicKeyHash } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, AnchorOutput, NftOutput } from '../protocol/outputs.ts'
import type { AnyVariant } from '../protocol/schema/composites.ts'
import {
  AccountUnlock,
  AnchorUnlock,
  EmptyUnlock,
  MultiUnlock,
  NftUnlock,
  ReferenceUnlock,
  type Signature,
  SignatureUnlock,
  type Unlock,
} from '../protocol/unlocks.ts'
import { chainId } from './chains.ts'
import { underlyingAddress } from './output-parts.ts'
import { addressToUnlock } from './owners.ts'
import type { TransactionError } from './transaction-error.ts'
import { anchorMove } from './transitions/anchor.ts'
import type { ResolvedInput, WorkingSet } from './working-set.ts'

/** Every input is unlocked by an address that may spend it (ledger reference 4.2, 4.3). */

/** Every signature among some unlocks, in order: what is to be checked before an execution. */
export function signaturesOf(unlocks: readonly Unlock[]): Signature[] {
  return unlocks.flatMap((unlock) => {
    if (is(SignatureUnlock, unlock)) return [unlock.signature]
    return is(MultiUnlock, unlock) ? signaturesOf(unlock.unlocks) : []
  })
}

/** Every input is unlocked by the unlock of the same index; what that opens counts for those behind it. */
export function inputsUnlocked(set: WorkingSet): TransactionError | undefined {
  for (const [index, input] of set.inputs.entries()) {
    const owner = addressToUnlock(set, input, index)
    if (!owner.ok) return owner.error
    const address = underlyingAddress(owner.value)
    const place = { address, key: addressKey(address), input: index }
    const unlock = present(set.unlocks[index], 'the unlock of an input')
    const broken = checkUnlock(set, place, unlock)
    if (broken !== undefined) return broken
    noteUnlock(set, place, unlock)
    noteChain(set, input, index)
  }
  return undefined
}

/** An address that the unlock at `input`, or a member of it, must open. */
interface Place {
  readonly address: Exclude<Address, RestrictedAddress>
  readonly key: Hex
  readonly input: number
}

function checkUnlock(set: WorkingSet, place: Place, unlock: Unlock): TransactionError | undefined {
  switch (place.address.type) {
    case Ed25519Address.code:
    case ImplicitAccountCreationAddress.code:
      return checkKey(set, place, unlock, place.address.pubKeyHash)
    case AccountAddress.code:
      return checkChain(set, place, unlock, AccountUnlock)
    case NftAddress.code:
      return checkChain(set, place, unlock, NftUnlock)
    case AnchorAddress.code:
      return checkChain(set, place, unlock, AnchorUnlock)
    case MultiAddress.code:
      return checkMulti(set, place, unlock, place.address)
  }
}

/** A key signs once; further inputs of the same key refer to the input that its signature unlocked. */
function checkKey(
  set: WorkingSet,
  { key, input }: Place,
  unlock: Unlock,
  keyHash: Hex,
): TransactionError | undefined {
  if (is(SignatureUnlock, unlock) && !set.unlockedByAddress.has(key)) {
    const { signature } = unlock
    const isRight =
      publicKeyHash(signature.publicKey) === keyHash && set.isSignatureValid(signature)
    return isRight ? undefined : { code: 'UNLOCK_SIGNATURE_INVALID', input }
  }
  const isSigned = is(ReferenceUnlock, unlock) && set.signerByInput[unlock.reference] === keyHash
  return isSigned ? undefined : { code: 'DIRECT_UNLOCKABLE_ADDRESS_UNLOCK_INVALID', input }
}

/** A chain opens what it owns once it is unlocked itself. */
function checkChain(
  set: WorkingSet,
  { key, input }: Place,
  unlock: Unlock,
  kind: typeof AccountUnlock | typeof AnchorUnlock | typeof NftUnlock,
): TransactionError | undefined {
  const unlocked = set.unlockedByAddress.get(key)
  const isOfKind =
    is(kind, unlock) || (kind === NftUnlock && is(AnchorUnlock, unlock) && isInBothNumberings(set))
  const isOpen = isOfKind && unlocked?.input === unlock.reference
  return isOpen ? undefined : { code: 'CHAIN_ADDRESS_UNLOCK_INVALID', input }
}

/**
 * Whether neither context inputs nor unlocks show the numbering of the transaction. Then code 3, which is an anchor
 * unlock in one numbering and an NFT unlock in the other, is what the input asks for.
 */
function isInBothNumberings({ transaction, unlocks }: WorkingSet): boolean {
  const isNft = (unlock: Unlock): boolean =>
    is(NftUnlock, unlock) || (is(MultiUnlock, unlock) && unlock.unlocks.some(isNft))
  return transaction.contextInputs.length === 0 && !unlocks.some(isNft)
}

/** Enough members agree. What opens a member here opens no other input: it is checked and not noted. */
function checkMulti(
  set: WorkingSet,
  { key, input }: Place,
  unlock: Unlock,
  { addresses, threshold }: MultiAddress,
): TransactionError | undefined {
  const unlocked = set.unlockedByAddress.get(key)
  if (is(ReferenceUnlock, unlock) && unlocked?.input === unlock.reference) return undefined
  if (!is(MultiUnlock, unlock) || unlocked !== undefined) {
    return { code: 'MULTI_ADDRESS_UNLOCK_INVALID', input }
  }
  const { unlocks } = unlock
  if (unlocks.length !== addresses.length) {
    const members = addresses.length
    const code = 'MULTI_ADDRESS_LENGTH_UNLOCK_LENGTH_MISMATCH'
    return { code, input, members, unlocks: unlocks.length }
  }
  let reached = 0
  for (const [index, { address, weight }] of addresses.entries()) {
    const memberUnlock = present(unlocks[index], 'the unlock of a member')
    if (is(EmptyUnlock, memberUnlock)) continue
    const place = { address, key: addressKey(address), input }
    const broken = checkUnlock(set, place, memberUnlock)
    if (broken !== undefined) return broken
    reached += weight
  }
  if (reached >= threshold) return undefined
  return { code: 'MULTI_ADDRESS_UNLOCK_THRESHOLD_NOT_REACHED', input, threshold, reached }
}

function noteUnlock(set: WorkingSet, { address, key, input }: Place, unlock: Unlock): void {
  const unlocked = set.unlockedByAddress.get(key)
  if (unlocked === undefined) noteAddress(set, key, input)
  else unlocked.referringInputs.push(input)
  if (is(SignatureUnlock, unlock) && 'pubKeyHash' in address)
    set.signerByInput[input] = address.pubKeyHash
}

/** A chain that is unlocked opens what it owns from here on, even if the transaction ends it. */
function noteChain(set: WorkingSet, { output, outputId }: ResolvedInput, input: number): void {
  const note = (kind: AnyVariant) =>
    noteAddress(set, `${addressKeyPrefix(kind)}${chainId(output, outputId).slice(2)}`, input)
  if (is(AccountOutput, output)) note(AccountAddress)
  if (is(NftOutput, output)) note(NftAddress)
  // Its governor speaks for an anchor only to change or end it.
  if (is(AnchorOutput, output) && anchorMove(set.chains, output, outputId) === 'STATE') {
    note(AnchorAddress)
  }
}

function noteAddress({ unlockedByAddress }: WorkingSet, key: Hex, input: number): void {
  unlockedByAddress.set(key, { input, referringInputs: [] })
}
