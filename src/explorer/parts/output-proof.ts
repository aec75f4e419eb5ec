import { blake2b } from '@noble/hashes/blake2.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'

/**
 * Checks that an output belongs to its transaction, by hashes alone: nothing that the gateway says of it is believed. So it is
 * written here once more; `provesOutput` of the gateway is another program.
 */

/** A node of the tree of hashes over the outputs of a transaction. */
export interface ProofNode {
  readonly __typename: string
  readonly l?: ProofNode
  readonly r?: ProofNode
  readonly hash?: string
}

export interface OutputProof {
  readonly slot: number
  readonly outputIndex: number
  /** The hash of all that the transaction says beside its outputs. */
  readonly transactionCommitment: string
  readonly outputCommitmentProof: ProofNode
}

export interface ProvenOutput {
  readonly outputId: string
  readonly bytes: string
  readonly proof: OutputProof
}

/** What was hashed, and what was found; the first that is not as it must be. */
export interface ProofCheck {
  readonly verdict: 'PROVEN' | 'OTHER_BYTES' | 'OTHER_PLACE' | 'OTHER_TRANSACTION'
  readonly outputHash: string
  readonly root: string
  readonly transactionId: string
}

/** Hashes the output, the tree over all outputs, and the transaction, whose id an output id begins with. */
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

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** The hash of the protocol for identifiers. */
export function hash(...parts: readonly Uint8Array[]): Uint8Array {
  return blake2b(concatBytes(...parts), { dkLen: 32 })
}

function rootOf({ l, r, hash: own }: ProofNode): Uint8Array {
  if (l === undefined || r === undefined) return bytesOf(own ?? '0x')
  return hash(nodePrefix, rootOf(l), rootOf(r))
}

/** The way to the one output that the proof is of, as turns to the left and to the right from the root on. */
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

/** Whether the way leads to the index in a tree of as many outputs as a transaction may have. */
function hasPlace(turns: string, index: number): boolean {
  for (let count = index + 1; count <= mostOutputs; count++) {
    if (turnsTo(index, count) === turns) return true
  }
  return false
}

function turnsTo(index: number, count: number): string {
  if (count === 1) return ''
  const split = 2 ** Math.floor(Math.log2(count - 1))
  return index < split ? `l${turnsTo(index, split)}` : `r${turnsTo(index - split, count - split)}`
}

const mostOutputs = 128

export function littleEndian(value: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, n) => (value >>> (8 * n)) & 0xff)
}

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.slice(2))
}

export function hexOf(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}
