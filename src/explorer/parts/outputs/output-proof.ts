import { blake2b } from '@noble/hashes/blake2.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'

/**
 * Verifies with hashes alone that an output belongs to its transaction, without trusting the gateway. For that reason it does not
 * share code with `provesOutput` of the gateway.
 */

/** A node of the Merkle tree over the outputs of a transaction. */
export interface ProofNode {
  readonly __typename: string
  readonly l?: ProofNode
  readonly r?: ProofNode
  readonly hash?: string
}

export interface OutputProof {
  readonly slot: number
  readonly outputIndex: number
  /** Hash of the transaction without its outputs. */
  readonly transactionCommitment: string
  readonly outputCommitmentProof: ProofNode
}

export interface ProvenOutput {
  readonly outputId: string
  readonly bytes: string
  readonly proof: OutputProof
}

/** The computed hashes, and the verdict: the first mismatch, or `PROVEN`. */
export interface ProofCheck {
  readonly verdict: 'PROVEN' | 'OTHER_BYTES' | 'OTHER_PLACE' | 'OTHER_TRANSACTION'
  readonly outputHash: string
  readonly root: string
  readonly transactionId: string
}

/** Hashes the output, the tree over all outputs, and the transaction, whose id is the beginning of the output id. */
export function checkProof({ outputId, bytes, proof }: ProvenOutput): ProofCheck {
  const { slot, outputIndex, transactionCommitment, outputCommitmentProof: tree } = proof
  const outputHash = hash(leafPrefix, bytesOf(bytes))
  const path = pathToValue(tree)
  const root = rootOf(tree)
  const identity = hash(bytesOf(transactionCommitment), root)
  const transactionId = hexOf(concatBytes(identity, littleEndian(slot, 4)))
  const derived = transactionId + bytesToHex(littleEndian(outputIndex, 2))
  const verdict =
    path?.hash !== hexOf(outputHash)
      ? 'OTHER_BYTES'
      : !hasPlace(path.turns, outputIndex)
        ? 'OTHER_PLACE'
        : derived !== outputId
          ? 'OTHER_TRANSACTION'
          : 'PROVEN'
  return { verdict, outputHash: hexOf(outputHash), root: hexOf(root), transactionId }
}

/** First byte of what is hashed to a leaf of a tree, and to a node. */
export const leafPrefix = Uint8Array.of(0)
export const nodePrefix = Uint8Array.of(1)

/** The hash function of the protocol for identifiers (BLAKE2b-256). */
export function hash(...parts: readonly Uint8Array[]): Uint8Array {
  return blake2b(concatBytes(...parts), { dkLen: 32 })
}

function rootOf({ l, r, hash: own }: ProofNode): Uint8Array {
  if (l === undefined || r === undefined) return bytesOf(own ?? '0x')
  return hash(nodePrefix, rootOf(l), rootOf(r))
}

/** The path from the root to the output of the proof, as left and right turns; `undefined` unless there is exactly one output. */
function pathToValue({
  __typename,
  l,
  r,
  hash: own,
}: ProofNode): { readonly turns: string; readonly hash: string | undefined } | undefined {
  if (__typename === 'ValueHash') return { turns: '', hash: own }
  const left = l && pathToValue(l)
  const right = r && pathToValue(r)
  if (left !== undefined && right !== undefined) return undefined
  if (left !== undefined) return { ...left, turns: `l${left.turns}` }
  return right && { ...right, turns: `r${right.turns}` }
}

/** Whether the path leads to the index in a tree of any number of outputs that a transaction may have. */
function hasPlace(turns: string, index: number): boolean {
  for (let count = index + 1; count <= maxOutputs; count++) {
    if (turnsTo(index, count) === turns) return true
  }
  return false
}

function turnsTo(index: number, count: number): string {
  if (count === 1) return ''
  const split = 2 ** Math.floor(Math.log2(count - 1))
  return index < split ? `l${turnsTo(index, split)}` : `r${turnsTo(index - split, count - split)}`
}

const maxOutputs = 128

export function littleEndian(value: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, n) => (value >>> (8 * n)) & 0xff)
}

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.slice(2))
}

export function hexOf(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}
