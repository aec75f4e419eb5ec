import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { bytesToHex } from '../lib/hex.ts'
import { createTurns } from '../lib/turns.ts'
import { emptyTrieRoot } from './trie.ts'
import {
  branchPage,
  changedEntries,
  leafPage,
  type Subtree,
  type TrieEntry,
  trieEntryWithin,
} from './trie-page.ts'

/** A key with its value. */
export type KeyValue = readonly [key: Hex, value: Uint8Array]

/**
 * The root of a trie (ledger reference 11.2) of any size, in memory for so many of its entries. The entries are read once for
 * each range of their paths: `read` is called for each pass, and gives all of them in any order.
 */
export async function trieRootOf(
  read: () => AsyncIterable<Iterable<KeyValue>>,
  mostEntries = usualEntries,
): Promise<Hex> {
  const subtrees = new Map<number, Subtree>()
  const turns = createTurns()
  for (let from = 0; from < firstBytes; ) {
    const pass = createPass(from, mostEntries)
    for await (const some of read()) {
      let hashed = 0
      for (const entry of some) {
        pass.add(entry)
        if (++hashed % hashesPerTurn === 0) await turns.pass()
      }
      await turns.pass()
    }
    for (const [firstByte, entries] of pass.lists()) {
      subtrees.set(firstByte, leafPage(changedEntries(undefined, entries), 2).subtree)
      await turns.pass()
    }
    from = pass.end()
  }
  return bytesToHex(rootOver(subtrees))
}

/** Takes the entries from a first byte on, of as many bytes as memory has room for. */
function createPass(from: number, mostEntries: number) {
  const lists = new Map<number, TrieEntry[]>()
  let to = firstBytes
  let held = 0

  function add([key, value]: KeyValue): void {
    const entry = trieEntryWithin({ from, to }, key, value)
    if (entry === undefined) return
    const firstByte = present(entry[0], 'the first byte of a path')
    const list = lists.get(firstByte)
    if (list === undefined) lists.set(firstByte, [entry])
    else list.push(entry)
    for (held++; held > mostEntries && to - from > 1; ) {
      to--
      held -= lists.get(to)?.length ?? 0
      lists.delete(to)
    }
  }

  return { add, lists: () => lists, end: () => to }
}

/** The root over the subtrees of all first bytes: two levels of pages. */
function rootOver(subtrees: ReadonlyMap<number, Subtree>): Uint8Array {
  const digits = Array.from({ length: 16 }, (_, i) => i)
  const upper = digits.map((high): [number, Subtree] => {
    const lower = digits.map((low): [number, Subtree] => [low, subtrees.get(16 * high + low)])
    return [high, branchPage(undefined, new Map(lower)).subtree]
  })
  return branchPage(undefined, new Map(upper)).subtree?.root ?? emptyTrieRoot
}

const firstBytes = 256

/** Each takes some 200 bytes. */
const usualEntries = 400_000

/** So many take less than a millisecond. */
const hashesPerTurn = 256
