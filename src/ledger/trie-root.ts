import type { Hex } from '../lib/hex.ts'
import { bytesToHex } from '../lib/hex.ts'
import { passTurn } from '../lib/turns.ts'
import { emptyTrieRoot } from './trie.ts'
import {
  branchPage,
  changedEntries,
  digitAt,
  leafPage,
  listEntries,
  type Subtree,
  type TrieEntry,
} from './trie-page.ts'
import { createTriePass, firstBytes, type KeyValue } from './trie-pass.ts'

/** Reads all entries, in any order. */
export type ReadEntries = () => AsyncIterable<Iterable<KeyValue>>

/** The root of a trie of which the entries come one after another, in memory for so many of them. */
export interface TrieRoot {
  /** Takes entries, of which each is given once. */
  add(some: Iterable<KeyValue>): Promise<void>
  /** The root; or `undefined` where memory had no room for some entries: then all are to be added again, for the next range of paths. */
  end(): Promise<Hex | undefined>
  /** The root; the entries that memory had no room for are read again, once for each range of their paths. */
  root(readAgain: ReadEntries): Promise<Hex>
}

/** The root of a trie (ledger reference 11.2) of any size. */
export async function trieRootOf(read: ReadEntries, mostEntries?: number): Promise<Hex> {
  const trie = createTrieRoot(mostEntries)
  for await (const some of read()) await trie.add(some)
  return trie.root(read)
}

/** A trie without entries yet. */
export function createTrieRoot(mostEntries = usualEntries): TrieRoot {
  const subtrees = new Map<number, Subtree>()
  let pass = createTriePass(0, mostEntries)
  const add = (some: Iterable<KeyValue>) => pass.addAll(some)

  async function end(): Promise<Hex | undefined> {
    for (const [firstByte, entries] of pass.entries()) {
      subtrees.set(firstByte, await subtreeOf(listEntries(entries), 2))
    }
    const from = pass.end()
    if (from === firstBytes) return bytesToHex(rootOver(subtrees))
    pass = createTriePass(from, mostEntries)
    return undefined
  }

  async function root(readAgain: ReadEntries): Promise<Hex> {
    for (;;) {
      const computed = await end()
      if (computed !== undefined) return computed
      for await (const some of readAgain()) await add(some)
    }
  }

  return { add, end, root }
}

/** The subtree of entries at a depth, in pieces. */
async function subtreeOf(entries: readonly TrieEntry[], depth: number): Promise<Subtree> {
  if (entries.length <= hashesPerTurn) {
    await passTurn()
    return leafPage(changedEntries(undefined, entries), depth).subtree
  }
  const parts: TrieEntry[][] = digits.map(() => [])
  for (const entry of entries) parts[digitAt(entry, depth)]?.push(entry)
  const below = new Map<number, Subtree>()
  for (const [digit, part] of parts.entries()) {
    below.set(digit, await subtreeOf(part, depth + 1))
  }
  return branchPage(undefined, below).subtree
}

/** The root over the subtrees of all first bytes: two levels of pages. */
function rootOver(subtrees: ReadonlyMap<number, Subtree>): Uint8Array {
  const upper = digits.map((high): [number, Subtree] => {
    const lower = digits.map((low): [number, Subtree] => [low, subtrees.get(16 * high + low)])
    return [high, branchPage(undefined, new Map(lower)).subtree]
  })
  return branchPage(undefined, new Map(upper)).subtree?.root ?? emptyTrieRoot
}

const digits: readonly number[] = Array.from({ length: 16 }, (_, i) => i)

/** Each takes some 60 bytes. */
const usualEntries = 1_000_000

/** So many take less than a millisecond. */
const hashesPerTurn = 256
