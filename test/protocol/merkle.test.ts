import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface TreeVector extends Vector {
  readonly leaves: readonly Hex[]
  readonly root?: Hex
  readonly expected?: Hex
}

describe('Merkle roots', () => {
  const vectors = [
    ...loadVectors<TreeVector>('identifiers').filter(({ kind }) => kind === 'merkle-root'),
    ...loadVectors<TreeVector>('semantic-roots').filter(({ kind }) => kind === 'tree'),
  ]
  test.each(vectors)('$name', ({ leaves, root, expected }) =>
    expect(bytesToHex(merkleRoot(leaves.map(hexToBytes)))).toBe(root ?? expected),
  )
})
