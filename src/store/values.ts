import type { ChainKind } from '../ledger/chain-states.ts'
import type { IndexKind } from '../ledger/index-keys.ts'
import { type UpdateClass, updateClasses } from '../ledger/updates.ts'
import { assert, present } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import type { CommitmentId, Id } from '../protocol/primitives.ts'
import { type BlockKind, blockKinds } from './rows.ts'

/** Converts single values to and from their stored form: ids as bytes, positions as bigint, classes and roles as numbers. */

/** Converts stored bytes to an id. The bytes must have been written as an id of this kind. */
export function idFromBytes<Kind extends string>(bytes: Uint8Array): Id<Kind> {
  return bytesToHex(bytes) as Id<Kind>
}

/** Returns the branch of positions in a milestone with rows. It has six bytes, so one in 2.8 * 10^14 foreign cursors would be accepted. */
export function branchOf(commitmentId: CommitmentId): Hex {
  return `0x${commitmentId.slice(2, 14)}`
}

/** The branch of position 0, which all histories share. */
export const noBranch: Hex = '0x000000000000'

/** Returns the digits without `0x`, as `unhex` in the bulk statements expects them. */
export function digits(hex: Hex): string {
  return hex.slice(2)
}

/** Converts bytes to hex digits without `0x`. */
export function digitsOf(bytes: Uint8Array): string {
  return digits(bytesToHex(bytes))
}

/** Converts a class to its number, in log order. */
export function classToNumber(updateClass: UpdateClass): number {
  return updateClasses.indexOf(updateClass)
}

export function numberToClass(number: number): UpdateClass {
  return present(updateClasses[number], `update class ${number}`)
}

export function kindToNumber(kind: BlockKind): number {
  return blockKinds.indexOf(kind)
}

export function numberToKind(number: number): BlockKind {
  return present(blockKinds[number], `kind of block ${number}`)
}

/** Converts a kind of index key to its number. */
export function indexKindToNumber(kind: IndexKind): number {
  return numberByIndexKind[kind]
}

const numberByIndexKind: { readonly [K in IndexKind]: number } = {
  HOLDER: 0,
  STATE_CONTROLLER: 1,
  GOVERNOR: 2,
  STORAGE_DEPOSIT_RETURN: 3,
  EXPIRATION_RETURN: 4,
  SENDER: 5,
  ISSUER: 6,
  VALIDATOR: 7,
  MULTI_MEMBER: 8,
  RESTRICTED_INNER: 9,
  EXPIRING_OWNER: 10,
  TAG: 11,
  NATIVE_TOKEN: 12,
  CHAIN: 13,
  CHAIN_HOLDER: 14,
  // 15 is used in between by a migration.
  MULTI_OF_MEMBER: 16,
}

/** Converts a type code to its kind of chain. */
export function chainKindOf(code: unknown): ChainKind {
  return present(
    ([1, 2, 3, 4, 5] as const).find((kind) => kind === Number(code)),
    `kind of chain ${code}`,
  )
}

/** Converts a number up to 2^256 - 1 to 32 bytes in big-endian order, so that bytes sort like numbers. */
export function uint256ToHex(value: bigint): Hex {
  assert(value >= 0n && value >> 256n === 0n, `${value} has 256 bits`)
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Converts the bytes of `uint256ToHex` back to a number. */
export function bytesToUint256(bytes: Uint8Array): bigint {
  return BigInt(bytesToHex(bytes))
}

/** Returns the stored word if it is one of the given words. */
export function oneOf<T extends string>(words: readonly T[], text: string): T {
  return present(
    words.find((word) => word === text),
    `meaning of '${text}'`,
  )
}

/** Parses a JSON array of strings that `JSON.stringify` wrote. */
export function stringsFromJson(text: string): string[] {
  const list: unknown = JSON.parse(text)
  assert(Array.isArray(list) && list.every((item) => typeof item === 'string'), 'strings in JSON')
  return list
}
