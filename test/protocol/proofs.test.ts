import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import type { OutputIdProof, ProofNode } from '../../src/protocol/commitment.ts'
import { blake2b256 } from '../../src/protocol/hash.ts'
import { outputId, transactionIdOf } from '../../src/protocol/ids.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import { createProver, provesOutput } from '../../src/protocol/proofs.ts'

/** Returns some outputs of one transaction with the proof of each. */
function transactionOfSize(count: number, slot = 7) {
  const leaves = Array.from({ length: count }, (_, i) => Uint8Array.of(1, 2, 3, i))
  const transactionCommitment = bytesToHex(blake2b256(Uint8Array.of(9)))
  const id = transactionIdOf(transactionCommitment, bytesToHex(merkleRoot(leaves)), slot)
  const prove = createProver(leaves)
  return leaves.map((bytes, index) => ({
    bytes,
    outputId: outputId(id, index),
    proof: {
      slot,
      outputIndex: index,
      transactionCommitment,
      outputCommitmentProof: prove(index),
    } satisfies OutputIdProof,
  }))
}

describe('a proof', () => {
  test.each([1, 2, 3, 4, 5, 7, 8, 13, 127, 128])('holds for each of %i outputs', (count) => {
    for (const { outputId, bytes, proof } of transactionOfSize(count)) {
      expect(provesOutput(outputId, bytes, proof)).toBe(true)
    }
  })

  const [, second, third] = transactionOfSize(5)
  const { outputId: id, bytes, proof } = present(third, 'an output')
  const other = present(second, 'an output')
  const tree = proof.outputCommitmentProof
  const leaf: ProofNode = { type: 2, hash: bytesToHex(blake2b256(Uint8Array.of(0), bytes)) }

  const rows: readonly (readonly [string, Parameters<typeof provesOutput>])[] = [
    ['other contents', [id, other.bytes, proof]],
    ['another output', [other.outputId, bytes, proof]],
    ['another index', [id, bytes, { ...proof, outputIndex: 3 }]],
    ['another slot', [id, bytes, { ...proof, slot: 8 }]],
    [
      'another transaction',
      [id, bytes, { ...proof, transactionCommitment: `0x${'00'.repeat(32)}` }],
    ],
    ['a tree without the output', [id, bytes, { ...proof, outputCommitmentProof: hidden(tree) }]],
    [
      'a tree with two values',
      [id, bytes, { ...proof, outputCommitmentProof: { type: 0, l: tree, r: leaf } }],
    ],
  ]
  test.each(rows)('does not hold for %s', (_name, question) => {
    expect(provesOutput(...question)).toBe(false)
  })

  test('does not hold at a position that the index cannot have', () => {
    // The second of two outputs is on the right; an id with index 0 may have the same hash.
    const [left, right] = transactionOfSize(2)
    const moved = outputId(transactionIdOf(...sidesOf(right)), 0)
    const { bytes, proof } = present(right, 'an output')
    expect(moved).toBe(left?.outputId)
    expect(provesOutput(moved, bytes, { ...proof, outputIndex: 0 })).toBe(false)
  })
})

function sidesOf(one: ReturnType<typeof transactionOfSize>[number] | undefined) {
  const { proof } = present(one, 'an output')
  const leaves = [0, 1].map((i) => Uint8Array.of(1, 2, 3, i))
  return [proof.transactionCommitment, bytesToHex(merkleRoot(leaves)), proof.slot] as const
}

/** Returns the same tree, with the hash of the value as a plain hash. */
function hidden(node: ProofNode): ProofNode {
  if (node.type === 0) return { type: 0, l: hidden(node.l), r: hidden(node.r) }
  return { type: 1, hash: node.hash }
}
