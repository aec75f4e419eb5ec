import { assert, present } from '../lib/assert.ts'
import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import type { OutputIdProof, ProofNode } from './commitment.ts'
import { blake2b256 } from './hash.ts'
import { indexOf, slotOfId, transactionIdOf, transactionOf } from './ids.ts'
import type { OutputId } from './primitives.ts'

/** Proofs that an output belongs to a transaction (codec reference 13.4). */

/**
 * Proves leaves of the tree over `leaves`, of which there is one at least: a proof has the hash of the leaf and those of all
 * subtrees beside its path. Every hash of the tree is computed once.
 */
export function createProver(leaves: readonly Uint8Array[]): (index: number) => ProofNode {
  assert(leaves.length > 0, 'a tree has leaves')
  const root = treeOf(leaves.map((leaf) => blake2b256(leafPrefix, leaf)))
  return (index) => pathTo(root, index)
}

/** A subtree with its root, and the count of the leaves below. */
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
  return { hash: blake2b256(nodePrefix, left.hash, right.hash), count, parts: [left, right] }
}

function pathTo({ hash, parts }: Tree, index: number): ProofNode {
  if (parts === undefined) return { type: 2, hash: bytesToHex(hash) }
  const [left, right] = parts
  return index < left.count
    ? { type: 0, l: pathTo(left, index), r: beside(right) }
    : { type: 0, l: beside(left), r: pathTo(right, index - left.count) }
}

function beside({ hash }: Tree): ProofNode {
  return { type: 1, hash: bytesToHex(hash) }
}

/** The output commitment that a proof leads to. */
export function proofRoot(node: ProofNode): Uint8Array {
  if (node.type !== 0) return hexToBytes(node.hash)
  const [left, right] = [proofRoot(node.l), proofRoot(node.r)]
  pair.set(left, 1)
  pair.set(right, 33)
  return blake2b256(pair)
}

// In one piece, for of so few bytes the calls cost more than the hashing; filled and hashed without a pause.
const pair = Uint8Array.of(1, ...new Uint8Array(64))

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

/** A proof has no count of leaves: it suffices that one of the allowed counts leads the same way to the index. */
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
