import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { trieMapRoot } from '../../../src/ledger/trie.ts'
import { isBranchPage } from '../../../src/ledger/trie-page.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/lib/hex.ts'
import { openStoredTries, type StoredTries } from '../../../src/node/embedded/stored-tries.ts'
import type { TriePage } from '../../../src/store/contract/trie.ts'
import { loadVectors, type Vector } from '../../support/vectors.ts'

interface TrieVector extends Vector {
  readonly entries: readonly (readonly [key: Hex, value: Hex])[]
  readonly deleted: readonly Hex[]
  readonly expected: Hex
}

/** Stores pages in a map, and opens tries on them with a cache of a given size, which apply a given number of changes at once. */
function triesOnPages(cacheBytes: number, changesAtOnce?: number) {
  const pages = new Map<number, Uint8Array>()
  const requested: number[] = []

  async function triePages(ids: readonly number[]): Promise<TriePage[]> {
    requested.push(...ids)
    return ids.flatMap((id) => {
      const bytes = pages.get(id)
      return bytes === undefined ? [] : [{ id, bytes }]
    })
  }

  async function write(tries: StoredTries): Promise<void> {
    const { put, removed } = tries.changes()
    for (const { id, bytes } of put) pages.set(id, bytes)
    for (const id of removed) pages.delete(id)
    await tries.written()
  }

  const open = () => openStoredTries({ triePages }, cacheBytes, changesAtOnce)
  return { pages, requested, reads: () => requested.length, write, open }
}

async function rootOf(tries: StoredTries, changes: ReadonlyMap<Hex, Uint8Array | undefined>) {
  return bytesToHex(await tries.update('outputs', changes))
}

describe('roots of tries in pages', () => {
  const vectors = loadVectors<TrieVector>('semantic-roots').filter(({ kind }) => kind === 'trie')
  test.each(vectors)('$name', async ({ entries, deleted, expected }) => {
    const { open, write } = triesOnPages(0)
    const full = open()
    await full.update('outputs', new Map(entries.map(([key, value]) => [key, hexToBytes(value)])))
    await write(full)
    expect(await rootOf(open(), new Map(deleted.map((key) => [key, undefined])))).toBe(expected)
  })

  test.each([
    [0, undefined],
    [5_000, undefined],
    [1_000_000, undefined],
    [0, 0],
    [1_000_000, 300],
  ])(
    'equal the roots of whole tries after any change, with a cache of %i bytes and parts of %s changes',
    async (cacheBytes, changesAtOnce) => {
      // The keys are few enough that slots change the same ones, and many enough for pages three levels deep.
      const keys = Array.from(
        { length: 6_000 },
        (_, i) => `0x${i.toString(16).padStart(4, '0')}` as Hex,
      )
      const step = fc.record({
        seed: fc.nat(),
        count: fc.constantFrom(0, 1, 2, 40, 400, 4_000),
        removing: fc.constantFrom(0, 0.5, 1),
        isReopened: fc.boolean(),
        isWritten: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          const { open, write, pages } = triesOnPages(cacheBytes, changesAtOnce)
          const whole = new Map<Hex, Uint8Array>()
          let tries = open()
          for (const { seed, count, removing, isReopened, isWritten } of steps) {
            const changes = new Map<Hex, Uint8Array | undefined>()
            for (let i = 0; i < count; i++) {
              const spread = (seed + i * 2_654_435_761) % keys.length
              const isRemoved = ((seed + i * 40_503) % 100) / 100 < removing
              const value = isRemoved ? undefined : Uint8Array.of(seed & 255, i & 255)
              changes.set(keys[spread] as Hex, value)
            }
            for (const [key, value] of changes) {
              if (value === undefined) whole.delete(key)
              else whole.set(key, value)
            }
            expect(await rootOf(tries, changes)).toBe(bytesToHex(trieMapRoot(whole)))
            if (isWritten || isReopened) await write(tries)
            if (isReopened) tries = open()
          }
          const gone = new Map([...whole.keys()].map((key) => [key, undefined]))
          expect(await rootOf(tries, gone)).toBe(`0x${'00'.repeat(32)}`)
          await write(tries)
          expect(pages.size).toBe(0)
        }),
        { numRuns: 12 },
      )
    },
    120_000,
  )

  test('apply the many changes of a large slot digit by digit, so that few of them are objects at once', async () => {
    const { open, write, requested } = triesOnPages(0)
    const keys = Array.from(
      { length: 20_000 },
      (_, i) => `0x${i.toString(16).padStart(8, '0')}` as Hex,
    )
    const first = open()
    await first.update('outputs', new Map(keys.map((key) => [key, Uint8Array.of(1)])))
    await write(first)
    requested.length = 0
    const all = new Map(keys.map((key) => [key, Uint8Array.of(2)]))
    expect(await rootOf(open(), all)).toBe(bytesToHex(trieMapRoot(all)))
    // Ids are in the order of the paths: no page of an earlier digit is read once those of a later one are.
    const digits = requested.map((id) => Math.floor(id / 2 ** 48))
    expect(new Set(digits).size).toBe(16)
    expect(digits).toEqual(digits.toSorted((a, b) => a - b))
  })

  test('do not depend on another trie, and a slot reads only the pages on its paths', async () => {
    const { open, write, pages, reads } = triesOnPages(0)
    const first = open()
    const keys = Array.from(
      { length: 20_000 },
      (_, i) => `0x${i.toString(16).padStart(8, '0')}` as Hex,
    )
    const all = new Map(keys.map((key) => [key, Uint8Array.of(1)]))
    await first.update('outputs', all)
    const some = new Map([...all].slice(0, 10))
    expect(bytesToHex(await first.update('accounts', some))).toBe(bytesToHex(trieMapRoot(some)))
    await write(first)
    expect(pages.size).toBeGreaterThan(256)
    expect([...pages.values()].filter(isBranchPage).length).toBeGreaterThan(16)
    const before = reads()
    const next = open()
    const expected = bytesToHex(trieMapRoot(new Map([...all].slice(1))))
    expect(await rootOf(next, new Map([[keys[0] as Hex, undefined]]))).toBe(expected)
    expect(reads() - before).toBeLessThanOrEqual(4)
    expect(next.changes().put.length).toBeLessThanOrEqual(4)
    for (const { id } of next.changes().put) expect(Number.isSafeInteger(id)).toBe(true)
  })
})
