import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { bytesOf, hash, hexOf, leafPrefix, littleEndian, nodePrefix } from './output-proof.ts'

/** Verifies with hashes alone that a slot commitment contains an unspent output, as `output-proof.ts` does for transactions. */

export interface UnspentProof {
  readonly commitmentId: string
  readonly commitment: string
  /** The eight roots that the roots id is computed from; the third is the state root over all unspent outputs. */
  readonly roots: readonly string[]
  /** Sibling hashes of the path to the output, from the top of the trie down. */
  readonly beside: readonly string[]
}

/** The computed hashes, and the verdict: the first mismatch, or `COMMITTED`. */
export interface UnspentCheck {
  readonly verdict: 'COMMITTED' | 'OTHER_STATE' | 'OTHER_ROOTS' | 'OTHER_COMMITMENT'
  readonly stateRoot: string
  readonly rootsId: string
  readonly commitmentId: string
  readonly slot: number
}

/** Hashes from the output to the state root, to the roots id, and to the id of the commitment. */
export function checkUnspent(outputId: string, proof: UnspentProof): UnspentCheck {
  const commitment = bytesOf(proof.commitment)
  const stateRoot = hexOf(stateRootOf(outputId, proof.beside))
  const rootsId = hexOf(merkleRoot(proof.roots.map(bytesOf)))
  const slot = new DataView(commitment.buffer, commitment.byteOffset).getUint32(slotPlace, true)
  const commitmentId = hexOf(concatBytes(hash(commitment), littleEndian(slot, 4)))
  const named = hexOf(commitment.subarray(rootsPlace, rootsPlace + 32))
  const isWhole = proof.roots.length === rootCount && commitment.length === commitmentLength
  const verdict =
    stateRoot !== proof.roots[stateRootPlace]
      ? 'OTHER_STATE'
      : rootsId !== named || !isWhole
        ? 'OTHER_ROOTS'
        : commitmentId !== proof.commitmentId
          ? 'OTHER_COMMITMENT'
          : 'COMMITTED'
  return { verdict, stateRoot, rootsId, commitmentId, slot }
}

// Offsets in the bytes: protocol version, slot, id of the previous commitment, roots id, weight, price.
const slotPlace = 1
const rootsPlace = 41
const commitmentLength = 89

const rootCount = 8
const stateRootPlace = 2

/** The bits of the hashed id are the path, 0 to the left. The value is the creation slot, the end of the transaction id. */
function stateRootOf(outputId: string, beside: readonly string[]): Uint8Array {
  const id = bytesOf(outputId)
  const path = sha256(id)
  let root = sha256(concatBytes(leafPrefix, path, id.subarray(32, 36)))
  for (const [n, other] of beside.toReversed().entries()) {
    const depth = beside.length - 1 - n
    const isRight = ((path[depth >> 3] ?? 0) & (0x80 >> (depth & 7))) !== 0
    const pair = isRight ? [bytesOf(other), root] : [root, bytesOf(other)]
    root = sha256(concatBytes(nodePrefix, ...pair))
  }
  return root
}

/** The Merkle root of leaves whose number is a power of two. */
function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let level = leaves.map((leaf) => hash(leafPrefix, leaf))
  while (level.length > 1) {
    level = level.flatMap((left, n) =>
      n % 2 === 0 ? [hash(nodePrefix, left, level[n + 1] ?? new Uint8Array())] : [],
    )
  }
  return level[0] ?? new Uint8Array()
}
