import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import type { Address, MultiAddress } from '../protocol/addresses.ts'
import { addressKey, publicKeyHash } from '../protocol/ids.ts'
import type { Signature, Unlock } from '../protocol/unlocks.ts'
import { chainId } from './chains.ts'
import { underlyingAddress } from './output-parts.ts'
import { addressToUnlock } from './owners.ts'
import type { TransactionError } from './transaction-error.ts'
import { anchorMove } from './transitions/anchor.ts'
import type { ResolvedInput, WorkingSet } from './working-set.ts'

/** Every input is unlocked by whoever may spend it (ledger reference 4.2, 4.3). */

/** Every signature among some unlocks, in order: what is to be checked before an execution. */
export function signaturesOf(unlocks: readonly Unlock[]): Signature[] {
  return unlocks.flatMap((unlock) => {
    if (unlock.type === 0) return [unlock.signature]
    return unlock.type === 5 ? signaturesOf(unlock.unlocks) : []
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
  readonly address: Exclude<Address, { readonly type: 48 }>
  readonly key: Hex
  readonly input: number
}

function checkUnlock(set: WorkingSet, place: Place, unlock: Unlock): TransactionError | undefined {
  switch (place.address.type) {
    case 0:
    case 32:
      return checkKey(set, place, unlock, place.address.pubKeyHash)
    case 8:
      return checkChain(set, place, unlock, 2)
    case 16:
      return checkChain(set, place, unlock, 4)
    case 24:
      return checkChain(set, place, unlock, 3)
    case 40:
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
  if (unlock.type === 0 && !set.unlockedByAddress.has(key)) {
    const { signature } = unlock
    const isRight =
      publicKeyHash(signature.publicKey) === keyHash && set.isSignatureValid(signature)
    return isRight ? undefined : { code: 'UNLOCK_SIGNATURE_INVALID', input }
  }
  const isSigned = unlock.type === 1 && set.signerByInput[unlock.reference] === keyHash
  return isSigned ? undefined : { code: 'DIRECT_UNLOCKABLE_ADDRESS_UNLOCK_INVALID', input }
}

/** A chain opens what it owns once it is unlocked itself. */
function checkChain(
  set: WorkingSet,
  { key, input }: Place,
  unlock: Unlock,
  kind: 2 | 3 | 4,
): TransactionError | undefined {
  const unlocked = set.unlockedByAddress.get(key)
  const isOfKind =
    unlock.type === kind || (kind === 4 && unlock.type === 3 && isInBothNumberings(set))
  const isOpen = isOfKind && unlocked?.input === unlock.reference
  return isOpen ? undefined : { code: 'CHAIN_ADDRESS_UNLOCK_INVALID', input }
}

/**
 * Whether neither context inputs nor unlocks tell the numbering of the transaction. Then code 3, which is an anchor
 * unlock in one numbering and an NFT unlock in the other, is what the input asks for.
 */
function isInBothNumberings({ transaction, unlocks }: WorkingSet): boolean {
  const isNft = (unlock: Unlock): boolean =>
    unlock.type === 4 || (unlock.type === 5 && unlock.unlocks.some(isNft))
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
  if (unlock.type === 1 && unlocked?.input === unlock.reference) return undefined
  if (unlock.type !== 5 || unlocked !== undefined) {
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
    if (memberUnlock.type === 6) continue
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
  if (unlock.type === 0 && 'pubKeyHash' in address) set.signerByInput[input] = address.pubKeyHash
}

/** A chain that is unlocked opens what it owns from here on, even if the transaction ends it. */
function noteChain(set: WorkingSet, { output, outputId }: ResolvedInput, input: number): void {
  const id = chainId(output, outputId).slice(2)
  if (output.type === 1) noteAddress(set, `0x08${id}`, input)
  if (output.type === 4) noteAddress(set, `0x10${id}`, input)
  // Its governor speaks for an anchor only to change or end it.
  if (output.type === 2 && anchorMove(set.chains, output, outputId) === 'STATE') {
    noteAddress(set, `0x18${id}`, input)
  }
}

function noteAddress({ unlockedByAddress }: WorkingSet, key: Hex, input: number): void {
  unlockedByAddress.set(key, { input, referringInputs: [] })
}
