import { expect, test } from 'vitest'
import { trieMapRoot } from '../../src/ledger/trie.ts'
import type { KeyValue } from '../../src/ledger/trie-pass.ts'
import { trieRootOf } from '../../src/ledger/trie-root.ts'
import { bytesToHex, hexToBytes } from '../../src/lib/hex.ts'
import { sha256 } from '../../src/protocol/hash.ts'
import { outputIdOf } from '../support/store-rows.ts'

/** The root in passes equals the reference, however few entries fit into memory. */
test.each([0, 1, 2, 31, 3_000])(
  'a root in passes over %i entries equals the reference',
  async (count) => {
    const entries = Array.from({ length: count }, (_, i): KeyValue => {
      return [outputIdOf(i), Uint8Array.of(i & 255)]
    })
    let passes = 0
    async function* read() {
      passes++
      for (let at = 0; at < count; at += 500) yield entries.slice(at, at + 500)
    }
    const expected = bytesToHex(trieMapRoot(new Map(entries)))
    expect(await trieRootOf(read)).toBe(expected)
    expect(passes).toBe(1)
    expect(await trieRootOf(read, 400)).toBe(expected)
    expect(passes).toBeGreaterThan(count > 400 ? 4 : 1)
  },
)

test('a root in passes over many entries with the same first byte equals the reference', async () => {
  const entries: KeyValue[] = []
  for (let i = 0; entries.length < 300; i++) {
    const key = outputIdOf(i)
    if ((sha256(hexToBytes(key))[0] ?? 0) === 7) entries.push([key, Uint8Array.of(i & 255)])
  }
  async function* read() {
    yield entries
  }
  expect(await trieRootOf(read)).toBe(bytesToHex(trieMapRoot(new Map(entries))))
})
