import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { passTurn } from '../lib/turns.ts'
import { type TrieEntry, trieEntryWithin } from './trie-page.ts'

/**
 * One pass over the entries of a trie that does not fit in memory: it collects the entries of a range of paths. A trie of any
 * size is built by as many passes as its entries need, each of which reads all entries.
 */

export type KeyValue = readonly [key: Hex, value: Uint8Array]

/** A pass. Its range begins at a fixed first byte of the paths and ends where its entries reach the limit. */
export interface TriePass {
  /** Adds entries, in turns of the event loop. Each entry is added once; an entry outside the range is ignored. */
  addAll(entries: Iterable<KeyValue>): Promise<void>
  /** Entries by the first byte of their paths, unsorted, in ascending order of that byte. */
  entries(): [firstByte: number, entries: Uint8Array][]
  /** End of the range, exclusive: the first byte at which the next pass begins. */
  end(): number
}

/** Number of values of the first byte of a path. */
export const firstBytes = 256

/** Begins a pass at a first byte. It holds at most `maxEntries` entries of some 60 bytes, or those of a single first byte. */
export function createTriePass(from: number, maxEntries: number): TriePass {
  const lists = new Map<number, EntryList>()
  let to = firstBytes
  let held = 0

  function add([key, value]: KeyValue): void {
    const entry = trieEntryWithin({ from, to }, key, value)
    if (entry === undefined) return
    const firstByte = present(entry[0], 'the first byte of a path')
    let list = lists.get(firstByte)
    if (list === undefined) {
      list = createEntryList()
      lists.set(firstByte, list)
    }
    list.add(entry)
    for (held++; held > maxEntries && to - from > 1; ) {
      to--
      held -= lists.get(to)?.count() ?? 0
      lists.delete(to)
    }
  }

  async function addAll(entries: Iterable<KeyValue>): Promise<void> {
    let hashed = 0
    for (const entry of entries) {
      add(entry)
      if (++hashed % hashesPerTurn === 0) await passTurn()
    }
    await passTurn()
  }

  return {
    addAll,
    entries: () =>
      [...lists].sort(([a], [b]) => a - b).map(([firstByte, list]) => [firstByte, list.bytes()]),
    end: () => to,
  }
}

/** Hashes that take less than a millisecond. */
export const hashesPerTurn = 256

type EntryList = ReturnType<typeof createEntryList>

/** Entries one after another in one buffer: an array for each entry would take four times the memory. */
function createEntryList() {
  let memory = new Uint8Array()
  let length = 0
  let count = 0

  function add(entry: TrieEntry): void {
    if (length + entry.length > memory.length) {
      const larger = new Uint8Array(Math.ceil(memory.length * 1.25) + 16 * entry.length)
      larger.set(memory)
      memory = larger
    }
    memory.set(entry, length)
    length += entry.length
    count++
  }

  return { add, count: () => count, bytes: () => memory.subarray(0, length) }
}
