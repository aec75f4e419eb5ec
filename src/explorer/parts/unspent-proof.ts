import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { bytesOf, hash, hexOf, littleEndian } from './output-proof.ts'

/** Checks that a slot commitment has an output among the unspent ones, by hashes alone, as `output-proof.ts` does. */

export interface UnspentProof {
  readonly commitmentId: string
  /** The bytes of the commitment. */
  readonly commitment: string
  /** The eight roots behind its roots id; the third is that of the state, all unspent outputs. */
  readonly roots: readonly string[]
  /** The roots beside the way to the output, from the top of the trie down. */
  readonly beside: readonly string[]
}

/** What was hashed, and what was found; the first that is not as it must be. */
export interface UnspentCheck {
  readonly verdict: 'COMMITTED' | 'OTHER_STATE' | 'OTHER_ROOTS' | 'OTHER_COMMITMENT'
  readonly stateRoot: string
  readonly rootsId: string
  readonly commitmentId: string
  readonly slot: number
}

/** Follows the way of the output to the state root, the root over all roots, and the id of the commitment. */
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

// Of the bytes: protocol version, slot, id of the commitment before, roots id, weight, price.
const slotPlace = 1
const rootsPlace = 41
const commitmentLength = 89

const rootCount = 8
const stateRootPlace = 2

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** The bits of the hash of the id are the way: 0 to the left. The value is the creation slot, which the id of the transaction ends with. */
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

/** Of a number of leaves that is a power of two. */
function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let level = leaves.map((leaf) => hash(leafPrefix, leaf))
  while (level.length > 1) {
    level = level.flatMap((left, n) =>
      n % 2 === 0 ? [hash(nodePrefix, left, level[n + 1] ?? new Uint8Array())] : [],
    )
  }
  return level[0] ?? new Uint8Array()
}
