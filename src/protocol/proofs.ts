import { present } from '../lib/assert.ts'
import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import type { ProofNode } from './commitment.ts'
import { blake2b256 } from './hash.ts'
import { merkleRoot } from './merkle.ts'

/** Proofs that an output belongs to a transaction (codec reference 13.4). */

/** The proof of one leaf of the tree over `leaves`: its own hash and those of all subtrees beside its path. */
export function proveLeaf(leaves: readonly Uint8Array[], index: number): ProofNode {
  if (leaves.length === 1) {
    const [leaf] = leaves
    return { type: 2, hash: bytesToHex(blake2b256(leafPrefix, present(leaf, 'leaf'))) }
  }
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1))
  const left = leaves.slice(0, split)
  const right = leaves.slice(split)
  return index < split
    ? { type: 0, l: proveLeaf(left, index), r: subtree(right) }
    : { type: 0, l: subtree(left), r: proveLeaf(right, index - split) }
}

/** The output commitment that a proof leads to. */
export function proofRoot(node: ProofNode): Uint8Array {
  if (node.type !== 0) return hexToBytes(node.hash)
  return blake2b256(nodePrefix, proofRoot(node.l), proofRoot(node.r))
}

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

function subtree(leaves: readonly Uint8Array[]): ProofNode {
  return { type: 1, hash: bytesToHex(merkleRoot(leaves)) }
}
