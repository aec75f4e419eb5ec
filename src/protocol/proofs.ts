import { present } from '../lib/assert.ts'
import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import type { OutputIdProof, ProofNode } from './commitment.ts'
import { blake2b256 } from './hash.ts'
import { indexOf, slotOfId, transactionIdOf, transactionOf } from './ids.ts'
import { merkleRoot } from './merkle.ts'
import type { OutputId } from './primitives.ts'

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

/**
 * Whether a proof leads from the bytes of an output to its id: it holds the hash of the output and no other value, at a
 * place where a tree can have that index, and its root gives the transaction id (codec reference 13.4).
 */
export function provesOutput(id: OutputId, output: Uint8Array, proof: OutputIdProof): boolean {
  const { slot, outputIndex, transactionCommitment, outputCommitmentProof: tree } = proof
  const path = pathToValue(tree)
  if (path === undefined || path.hash !== bytesToHex(blake2b256(leafPrefix, output))) return false
  const transactionId = transactionOf(id)
  return (
    outputIndex === indexOf(id) &&
    slot === slotOfId(transactionId) &&
    transactionIdOf(transactionCommitment, bytesToHex(proofRoot(tree)), slot) === transactionId &&
    hasPlace(path.turns, outputIndex)
  )
}

interface ValuePath {
  readonly hash: string
  /** `l` and `r`, from the root on. */
  readonly turns: string
}

/** The way to the one value of a tree; `undefined` where there is none, or more than one. */
function pathToValue(node: ProofNode): ValuePath | undefined {
  if (node.type === 2) return { hash: node.hash, turns: '' }
  if (node.type === 1) return undefined
  const [left, right] = [pathToValue(node.l), pathToValue(node.r)]
  if (left !== undefined && right !== undefined) return undefined
  if (left !== undefined) return { ...left, turns: `l${left.turns}` }
  return right && { ...right, turns: `r${right.turns}` }
}

/** The count of leaves is not told: it is enough that one of those allowed leads the same way to the index. */
function hasPlace(turns: string, index: number): boolean {
  for (let count = index + 1; count <= mostLeaves; count++) {
    if (turnsTo(index, count) === turns) return true
  }
  return false
}

/** The way to a leaf of a tree with so many. */
function turnsTo(index: number, count: number): string {
  if (count === 1) return ''
  const split = 2 ** Math.floor(Math.log2(count - 1))
  return index < split ? `l${turnsTo(index, split)}` : `r${turnsTo(index - split, count - split)}`
}

/** Outputs of a transaction. */
const mostLeaves = 128

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

function subtree(leaves: readonly Uint8Array[]): ProofNode {
  return { type: 1, hash: bytesToHex(merkleRoot(leaves)) }
}
