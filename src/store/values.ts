import type { ChainKind } from '../ledger/chain-states.ts'
import type { IndexKind } from '../ledger/index-keys.ts'
import { type Role, roles, type UpdateClass } from '../ledger/updates.ts'
import { assert, present } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import type { CommitmentId, Id } from '../protocol/primitives.ts'
import type { BlockKind, BlockState, TransactionState } from './rows.ts'

/** How single values are stored: ids as bytes, positions as bigint, classes and roles as numbers. */

/** The id of some bytes that were written as an id of that kind. */
export function idFromBytes<Kind extends string>(bytes: Uint8Array): Id<Kind> {
  return bytesToHex(bytes) as Id<Kind>
}

/** The branch of the positions in a milestone with rows. Six bytes: one in 2.8 * 10^14 foreign cursors would be taken. */
export function branchOf(commitmentId: CommitmentId): Hex {
  return `0x${commitmentId.slice(2, 14)}`
}

/** The branch of the position 0, which all histories have in common. */
export const noBranch: Hex = '0x000000000000'

/** The digits alone, as `unhex` of the bulk statements wants them. */
export function digits(hex: Hex): string {
  return hex.slice(2)
}

/** The digits of some bytes. */
export function digitsOf(bytes: Uint8Array): string {
  return digits(bytesToHex(bytes))
}

/** The number of a class, in log order. */
export function classToNumber(updateClass: UpdateClass): number {
  return classes.indexOf(updateClass)
}

/** The class of a number. */
export function numberToClass(number: number): UpdateClass {
  return present(classes[number], `update class ${number}`)
}

const classes: readonly UpdateClass[] = ['OWNED', 'MENTIONED']

/** The number of a kind of block. */
export function kindToNumber(kind: BlockKind): number {
  return kinds.indexOf(kind)
}

/** The kind of a number. */
export function numberToKind(number: number): BlockKind {
  return present(kinds[number], `kind of block ${number}`)
}

const kinds: readonly BlockKind[] = ['basic', 'validation', 'candidacy', 'tagged', 'transaction']

/** The bit mask of some roles; a role's bit is its place in the ledger's list, to which roles are only ever appended. */
export function rolesToMask(listed: readonly Role[]): number {
  return listed.reduce((mask, role) => mask | (1 << roles.indexOf(role)), 0)
}

/** The roles of a bit mask, in their fixed order; the same list for the same mask. */
export function maskToRoles(mask: number): readonly Role[] {
  const known = rolesByMask[mask]
  if (known !== undefined) return known
  const found = roles.filter((_role, bit) => (mask & (1 << bit)) !== 0)
  rolesByMask[mask] = found
  return found
}

/** At most 1,024, and few of them occur. */
const rolesByMask: (readonly Role[])[] = []

/** The number of a kind of index key. */
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
}

/** The kind of chain of a type code. */
export function chainKindOf(code: unknown): ChainKind {
  return present(
    ([1, 2, 3, 4, 5] as const).find((kind) => kind === Number(code)),
    `kind of chain ${code}`,
  )
}

/** A number up to 2^256 - 1 as 32 bytes, the highest first: they are in the order of the numbers. */
export function uint256ToHex(value: bigint): Hex {
  assert(value >= 0n && value >> 256n === 0n, `${value} has 256 bits`)
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** The number of bytes that `uint256ToHex` made. */
export function bytesToUint256(bytes: Uint8Array): bigint {
  return BigInt(bytesToHex(bytes))
}

/** The state of a block, as written. */
export function blockState(text: string): BlockState {
  return oneOf(['PENDING', 'ACCEPTED', 'CONFIRMED', 'FINALIZED', 'DROPPED'], text)
}

/** The state of a transaction, as written. */
export function transactionState(text: string): TransactionState {
  return oneOf(['PENDING', 'ACCEPTED', 'COMMITTED', 'FINALIZED', 'FAILED'], text)
}

function oneOf<T extends string>(words: readonly T[], text: string): T {
  return present(
    words.find((word) => word === text),
    `meaning of '${text}'`,
  )
}

/** The strings of a JSON array that `JSON.stringify` wrote. */
export function stringsFromJson(text: string): string[] {
  const list: unknown = JSON.parse(text)
  assert(Array.isArray(list) && list.every((item) => typeof item === 'string'), 'strings in JSON')
  return list
}
