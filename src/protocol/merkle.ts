import { blake2b256 } from './hash.ts'

/**
 * Root of the binary Merkle tree over the leaves in their order, 32 bytes (codec reference 13.3). The number of leaves of the
 * left subtree is the largest power of two below the count. Without leaves, the root is the hash of an empty input.
 */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  return leaves.length === 0 ? blake2b256() : rootOf(leaves, 0, leaves.length)
}

/** The root over the leaves from index `from` up to, but not including, `to`. */
function rootOf(leaves: readonly Uint8Array[], from: number, to: number): Uint8Array {
  const leaf = leaves[from]
  if (to - from === 1 && leaf !== undefined) return leafHash(leaf)
  const split = from + 2 ** Math.floor(Math.log2(to - from - 1))
  const left = rootOf(leaves, from, split)
  const right = rootOf(leaves, split, to)
  return nodeHash(left, right)
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  node.set(left, 1)
  node.set(right, 33)
  return blake2b256(node)
}

export function leafHash(leaf: Uint8Array): Uint8Array {
  if (leaf.length >= shortLeaf.length) return blake2b256(leafPrefix, leaf)
  shortLeaf.set(leaf, 1)
  return blake2b256(shortLeaf.subarray(0, 1 + leaf.length))
}

// For few bytes, calls cost more than hashing, so prefix and content are hashed in one call. All calls share these buffers,
// which is safe because they are filled and hashed synchronously.
const leafPrefix = Uint8Array.of(0)
const shortLeaf = new Uint8Array(512)
const node = Uint8Array.of(1, ...new Uint8Array(64))
