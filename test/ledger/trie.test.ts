import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  emptyTrie,
  type Trie,
  trieMapRoot,
  trieRoot,
  trieSetRoot,
  updateTrie,
} from '../../src/ledger/trie.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface TrieVector extends Vector {
  readonly entries: readonly (readonly [key: Hex, value: Hex])[]
  readonly deleted: readonly Hex[]
  readonly expected: Hex
}

describe('trie roots', () => {
  const vectors = loadVectors<TrieVector>('semantic-roots').filter(({ kind }) => kind === 'trie')
  test.each(vectors)('$name', ({ entries, deleted, expected }) => {
    const valueByKey = new Map(entries.map(([key, value]) => [key, hexToBytes(value)]))
    const full = updateTrie(emptyTrie, valueByKey)
    const left = updateTrie(full, new Map(deleted.map((key) => [key, undefined])))
    expect(bytesToHex(trieRoot(left))).toBe(expected)
  })

  test('a set is a map of empty values, in any order', () => {
    const ids = fc.uniqueArray(fc.uint8Array({ minLength: 36, maxLength: 36 }).map(bytesToHex))
    fc.assert(
      fc.property(ids, (keys) => {
        const map = new Map(keys.map((key) => [key, new Uint8Array(0)]))
        const root = bytesToHex(trieMapRoot(map))
        expect(bytesToHex(trieSetRoot(keys.toReversed()))).toBe(root)
      }),
    )
  })
})

describe('updates', () => {
  const keys = ['0x00', '0x01', '0x02', '0x03', '0x04', '0x05', '0x06', '0x07'] as const
  const value = fc.option(fc.uint8Array({ maxLength: 2 }), { nil: undefined })
  const updates = fc.array(fc.dictionary(fc.constantFrom(...keys), value), { maxLength: 8 })

  test('step by step lead to the same root as all at once, and leave earlier tries unchanged', () => {
    fc.assert(
      fc.property(updates, (steps) => {
        const whole = new Map<Hex, Uint8Array>()
        const earlier: { trie: Trie; root: Hex }[] = []
        let trie = emptyTrie
        for (const step of steps) {
          const changes = new Map(keys.filter((key) => key in step).map((key) => [key, step[key]]))
          for (const [key, set] of changes) {
            if (set === undefined) whole.delete(key)
            else whole.set(key, set)
          }
          trie = updateTrie(trie, changes)
          expect(bytesToHex(trieRoot(trie))).toBe(bytesToHex(trieMapRoot(whole)))
          earlier.push({ trie, root: bytesToHex(trieRoot(trie)) })
        }
        for (const former of earlier) expect(bytesToHex(trieRoot(former.trie))).toBe(former.root)
      }),
    )
  })
})
