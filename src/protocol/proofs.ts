import { assert, present } from '../lib/assert.ts'
import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import type { OutputIdProof, ProofNode } from './commitment.ts'
import { indexOf, slotOfId, transactionIdOf, transactionOf } from './ids.ts'
import { leafHash, nodeHash } from './merkle.ts'
import { maxPerTransaction, type OutputId } from './primitives.ts'

/** Proofs that an output belongs to a transaction (codec reference 13.4). */

/**
 * Creates a prover of leaves of the tree over `leaves`, which must not be empty. A proof has the hash of the leaf and the hashes
 * of all subtrees beside its path. Each hash of the tree is computed once.
 */
export function createProver(leaves: readonly Uint8Array[]): (index: number) => ProofNode {
  assert(leaves.length > 0, 'a tree has leaves')
  const root = treeOf(leaves.map(leafHash))
  return (index) => pathTo(root, index)
}

/** A subtree with its root and its number of leaves. */
interface Tree {
  readonly hash: Uint8Array
  readonly count: number
  readonly parts: readonly [left: Tree, right: Tree] | undefined
}

function treeOf(leafHashes: readonly Uint8Array[]): Tree {
  const count = leafHashes.length
  if (count === 1) return { hash: present(leafHashes[0], 'leaf'), count, parts: undefined }
  const split = 2 ** Math.floor(Math.log2(count - 1))
  const [left, right] = [treeOf(leafHashes.slice(0, split)), treeOf(leafHashes.slice(split))]
  return { hash: nodeHash(left.hash, right.hash), count, parts: [left, right] }
}

function pathTo({ hash, parts }: Tree, index: number): ProofNode {
  if (parts === undefined) return { type: 2, hash: bytesToHex(hash) }
  const [left, right] = parts
  return index < left.count
    ? { type: 0, l: pathTo(left, index), r: siblingOf(right) }
    : { type: 0, l: siblingOf(left), r: pathTo(right, index - left.count) }
}

function siblingOf({ hash }: Tree): ProofNode {
  return { type: 1, hash: bytesToHex(hash) }
}

/** Computes the output commitment of a proof. */
export function proofRoot(node: ProofNode): Uint8Array {
  if (node.type !== 0) return hexToBytes(node.hash)
  return nodeHash(proofRoot(node.l), proofRoot(node.r))
}

/**
 * Whether a proof connects the bytes of an output to its id: it has the hash of the output as its only value, at a place
 * that a tree can have for that index, and its root results in the transaction id (codec reference 13.4).
 */
export function provesOutput(id: OutputId, output: Uint8Array, proof: OutputIdProof): boolean {
  const { slot, outputIndex, transactionCommitment, outputCommitmentProof: tree } = proof
  const path = pathToValue(tree)
  if (path === undefined || path.hash !== bytesToHex(leafHash(output))) return false
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
  /** The turns `l` and `r` from the root to the value. */
  readonly turns: string
}

/** The path to the only value of a tree; `undefined` if the tree has no value, or several. */
function pathToValue(node: ProofNode): ValuePath | undefined {
  if (node.type === 2) return { hash: node.hash, turns: '' }
  if (node.type === 1) return undefined
  const [left, right] = [pathToValue(node.l), pathToValue(node.r)]
  if (left !== undefined && right !== undefined) return undefined
  if (left !== undefined) return { ...left, turns: `l${left.turns}` }
  return right && { ...right, turns: `r${right.turns}` }
}

/** Whether a tree of any allowed size has this path for the index; a proof does not contain the number of leaves. */
function hasPlace(turns: string, index: number): boolean {
  for (let count = index + 1; count <= maxPerTransaction; count++) {
    if (turnsTo(index, count) === turns) return true
  }
  return false
}

/** The path to a leaf of a tree with `count` leaves. */
function turnsTo(index: number, count: number): string {
  if (count === 1) return ''
  const split = 2 ** Math.floor(Math.log2(count - 1))
  return index < split ? `l${turnsTo(index, split)}` : `r${turnsTo(index - split, count - split)}`
}
