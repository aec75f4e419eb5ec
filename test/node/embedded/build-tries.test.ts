import { describe, expect, test } from 'vitest'
import { accountTrieChanges } from '../../../src/ledger/accounts.ts'
import { outputTrieChanges } from '../../../src/ledger/state-root.ts'
import { emptyTrie, trieRoot, updateTrie } from '../../../src/ledger/trie.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { buildTries } from '../../../src/node/embedded/build-tries.ts'
import { allBuilt } from '../../../src/store/contract/trie.ts'
import { databases, onDatabase, useStore } from '../../support/databases.ts'
import { accountVersion, booking, createdOutput, testGenesis } from '../../support/store-rows.ts'
import { keptRoots, pagesOf } from '../../support/trie-pages.ts'

describe.each(databases)('the construction of tries on $name', ({ create }) => {
  const use = useStore(create)
  const outputs = Array.from({ length: 1_500 }, (_, n) => createdOutput(n, { bookedSlot: 0 }))
  const accounts = Array.from({ length: 700 }, (_, n) => accountVersion(n, 0))

  async function found(): Promise<void> {
    await use.store.write.initialize(use.term, testGenesis({ outputs, accounts }))
    // Outputs that are booked in an uncommitted slot are no part of the tries.
    const created = Array.from({ length: 50 }, (_, n) => createdOutput(10_000 + n))
    await use.store.write.book(use.term, booking({ created }))
  }

  test('produces the roots of whole tries, in any number of ranges, and skips finished tries', async () => {
    await found()
    const expected = {
      outputs: naiveRoot(
        outputTrieChanges({ created: outputs.map(({ outputId }) => outputId), consumed: [] }),
      ),
      accounts: naiveRoot(
        accountTrieChanges(accounts.map(({ accountId, entry }) => [accountId, entry])),
      ),
    }
    const atOnce = await built(1_000_000)
    const pages = await pagesOf(use.url)
    expect(await keptRoots(use.store.read)).toEqual(expected)
    expect(atOnce.at(-1)).toEqual({ done: 1500, of: 1500 })
    await onDatabase(use.url, 'DELETE FROM trie_state')
    const inRanges = await built(100)
    expect(inRanges.length).toBeGreaterThan(15)
    expect(await pagesOf(use.url)).toEqual(pages)
    expect(await built(100)).toEqual([])
  })

  test('resumes after an interruption, with the same pages at the end', async () => {
    await found()
    await built(300)
    const pages = await pagesOf(use.url)
    await onDatabase(use.url, 'DELETE FROM trie_state')
    const states: (number | undefined)[] = []
    for (let isDone = false; !isDone; ) {
      const over = new AbortController()
      let reads = 0
      const result = await buildTries({
        ...deps(300, over.signal),
        onProgress: () => {
          // A range takes two reads, and the first progress comes before any.
          if (++reads === 4) over.abort()
        },
      })
      isDone = result.ok && result.value
      states.push((await use.store.read.trieState())?.built)
    }
    expect(states.length).toBeGreaterThan(2)
    expect(states.at(-1)).toBe(allBuilt)
    expect(await pagesOf(use.url)).toEqual(pages)
  })

  test('restarts for another slot than that of the pages, and ends with the term', async () => {
    await found()
    await built(1_000_000)
    await onDatabase(use.url, 'UPDATE trie_state SET slot = 17')
    expect(await built(1_000_000)).not.toEqual([])
    expect(await use.store.read.trieState()).toMatchObject({ slot: 0, built: allBuilt })
    await onDatabase(use.url, 'UPDATE trie_state SET slot = 17')
    await onDatabase(use.url, 'UPDATE writer SET term = term + 1')
    const result = await buildTries({ ...deps(1), onProgress: () => {} })
    expect(result).toEqual({ ok: false, error: { code: 'LEASE_LOST', term: use.term } })
  })

  function deps(outputsPerPass: number, ended = new AbortController().signal) {
    return { store: use.store, term: use.term, ended, outputsPerPass }
  }

  /** Builds the tries and returns the reported progress. */
  async function built(outputsPerPass: number) {
    const reported: { readonly done: number; readonly of: number }[] = []
    const onProgress = (progress: { readonly done: number; readonly of: number }) =>
      void reported.push(progress)
    const result = await buildTries({ ...deps(outputsPerPass), onProgress })
    expect(result).toEqual({ ok: true, value: true })
    return reported
  }
})

function naiveRoot(changes: Parameters<typeof updateTrie>[1]) {
  return bytesToHex(trieRoot(updateTrie(emptyTrie, changes)))
}
