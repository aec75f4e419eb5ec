import type { AccountEntry } from '../../src/ledger/accounts.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { bytesOf, sha256 } from './stored-ledger.ts'

/** The roots of a commitment, computed from all their entries each time (ledger reference 11.2). */

/** The root of a trie of keys with values. */
export function rootOfMap(entries: Iterable<readonly [Hex, Uint8Array]>): Uint8Array {
  return rootBelow(
    [...entries].map(([key, value]) => ({ path: sha256(bytesOf(key)), value })),
    0,
  )
}

/** The root of a trie of keys alone. */
export function rootOfSet(keys: Iterable<Hex>): Uint8Array {
  return rootOfMap([...keys].map((key) => [key, new Uint8Array()] as const))
}

interface Leaf {
  readonly path: Uint8Array
  readonly value: Uint8Array
}

function rootBelow(leaves: readonly Leaf[], depth: number): Uint8Array {
  const [only] = leaves
  if (only === undefined) return new Uint8Array(32)
  if (leaves.length === 1) return sha256(Uint8Array.of(0), only.path, only.value)
  const isRight = ({ path }: Leaf) => (((path[depth >> 3] ?? 0) >> (7 - (depth & 7))) & 1) === 1
  const left = leaves.filter((leaf) => !isRight(leaf))
  const right = leaves.filter(isRight)
  return sha256(Uint8Array.of(1), rootBelow(left, depth + 1), rootBelow(right, depth + 1))
}

/** An unsigned number of 4 bytes, the lowest byte first. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value))
  return bytes
}

/** The bytes of an account entry (ledger reference 12.2). */
export function entryBytes(entry: AccountEntry): Uint8Array {
  return Buffer.concat([
    bytesOf(entry.accountId),
    u64(entry.credits),
    u32(entry.updatedSlot),
    u32(entry.expirySlot),
    bytesOf(entry.outputId),
    Buffer.of(entry.keyHashes.length),
    ...entry.keyHashes.flatMap((hash) => [Buffer.of(0), bytesOf(hash)]),
    u64(entry.validatorStake),
    u64(entry.delegationStake),
    u64(entry.fixedCost),
    u32(entry.stakeEndEpoch),
    Buffer.of(entry.supportedVersion),
    bytesOf(entry.supportedHash),
  ])
}
