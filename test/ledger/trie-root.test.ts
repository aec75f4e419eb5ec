import { expect, test } from 'vitest'
import { trieMapRoot } from '../../src/ledger/trie.ts'
import { type KeyValue, trieRootOf } from '../../src/ledger/trie-root.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { outputIdOf } from '../support/store-rows.ts'

/** The root in passes is that of the reference, however few entries memory has room for. */
test.each([0, 1, 2, 31, 3_000])('of %i entries', async (count) => {
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
})
