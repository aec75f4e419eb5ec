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

/** The unlocking of inputs (ledger reference 4.2, 4.3). */

/** Every signature of some unlocks, in order. They are checked before an execution. */
export function signaturesOf(unlocks: readonly Unlock[]): Signature[] {
  return unlocks.flatMap((unlock) => {
    if (is(SignatureUnlock, unlock)) return [unlock.signature]
    return is(MultiUnlock, unlock) ? signaturesOf(unlock.unlocks) : []
  })
}

/** Every input must be unlocked by the unlock of the same index. Later inputs may refer to the addresses that it unlocks. */
export function inputsUnlocked(set: WorkingSet): TransactionError | undefined {
  for (const [index, input] of set.inputs.entries()) {
    const owner = addressToUnlock(set, input, index)
    if (!owner.ok) return owner.error
    const address = underlyingAddress(owner.value)
    const place = { address, key: addressKey(address), input: index }
    const unlock = present(set.unlocks[index], 'the unlock of an input')
    const broken = checkUnlock(set, place, unlock)
    if (broken !== undefined) return broken
    recordUnlock(set, place, unlock)
    recordChain(set, input, index)
  }
  return undefined
}

/** An address that the unlock at index `input`, or a member of that unlock, must unlock. */
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

/** A key signs once. Other inputs of the same key refer to the input that the signature unlocked. */
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

/** An unlocked chain unlocks the inputs that it owns. */
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
 * Whether neither the context inputs nor the unlocks determine the numbering of the transaction. Code 3 is an anchor unlock in one
 * numbering and an NFT unlock in the other. If both are possible, the code counts as the kind that the input needs.
 */
function isInBothNumberings({ transaction, unlocks }: WorkingSet): boolean {
  const isNft = (unlock: Unlock): boolean =>
    is(NftUnlock, unlock) || (is(MultiUnlock, unlock) && unlock.unlocks.some(isNft))
  return transaction.contextInputs.length === 0 && !unlocks.some(isNft)
}

/** Enough members must unlock. The unlock of a member unlocks no other input: it is checked and not recorded. */
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

function recordUnlock(set: WorkingSet, { address, key, input }: Place, unlock: Unlock): void {
  const unlocked = set.unlockedByAddress.get(key)
  if (unlocked === undefined) recordAddress(set, key, input)
  else unlocked.referringInputs.push(input)
  if (is(SignatureUnlock, unlock) && 'pubKeyHash' in address)
    set.signerByInput[input] = address.pubKeyHash
}

/** Records that an unlocked chain unlocks the later inputs that it owns, even if the transaction ends the chain. */
function recordChain(set: WorkingSet, { output, outputId }: ResolvedInput, input: number): void {
  const record = (kind: AnyVariant) =>
    recordAddress(set, `${addressKeyPrefix(kind)}${chainId(output, outputId).slice(2)}`, input)
  if (is(AccountOutput, output)) record(AccountAddress)
  if (is(NftOutput, output)) record(NftAddress)
  // An anchor that its governor changes or ends unlocks nothing.
  if (is(AnchorOutput, output) && anchorMove(set.chains, output, outputId) === 'STATE') {
    record(AnchorAddress)
  }
}

function recordAddress({ unlockedByAddress }: WorkingSet, key: Hex, input: number): void {
  unlockedByAddress.set(key, { input, referringInputs: [] })
}
