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
import { createTriePass, firstBytes, hashesPerTurn, type KeyValue } from './trie-pass.ts'

/** Reads all entries, in any order. */
export type ReadEntries = () => AsyncIterable<Iterable<KeyValue>>

/** Computes the root of a trie from its entries, with a limit on the entries in memory. */
export interface TrieRoot {
  /** Adds entries. Each entry must be added once per pass. */
  add(entries: Iterable<KeyValue>): Promise<void>
  /** Returns the root, or `undefined` if some entries did not fit in memory. All entries then have to be added again for the next pass. */
  end(): Promise<Hex | undefined>
  /** Returns the root. Reads all entries again for each pass, if some did not fit in memory. */
  root(readAgain: ReadEntries): Promise<Hex>
}

/** Computes the root of a trie (ledger reference 11.2) of any size. */
export async function trieRootOf(read: ReadEntries, maxEntries?: number): Promise<Hex> {
  const trie = createTrieRoot(maxEntries)
  for await (const entries of read()) await trie.add(entries)
  return trie.root(read)
}

/** Creates the computation, without entries. */
export function createTrieRoot(maxEntries = defaultMaxEntries): TrieRoot {
  const subtrees = new Map<number, Subtree>()
  let pass = createTriePass(0, maxEntries)
  const add = (entries: Iterable<KeyValue>) => pass.addAll(entries)

  async function end(): Promise<Hex | undefined> {
    for (const [firstByte, entries] of pass.entries()) {
      subtrees.set(firstByte, await subtreeOf(listEntries(entries), 2))
    }
    const from = pass.end()
    if (from === firstBytes) return bytesToHex(rootOver(subtrees))
    pass = createTriePass(from, maxEntries)
    return undefined
  }

  async function root(readAgain: ReadEntries): Promise<Hex> {
    for (;;) {
      const computed = await end()
      if (computed !== undefined) return computed
      for await (const entries of readAgain()) await add(entries)
    }
  }

  return { add, end, root }
}

/** Computes the subtree of entries at a depth. Yields to the event loop. */
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

/** Computes the root over the subtrees of all first bytes: two levels of pages. */
function rootOver(subtrees: ReadonlyMap<number, Subtree>): Uint8Array {
  const upper = digits.map((high): [number, Subtree] => {
    const lower = digits.map((low): [number, Subtree] => [low, subtrees.get(16 * high + low)])
    return [high, branchPage(undefined, new Map(lower)).subtree]
  })
  return branchPage(undefined, new Map(upper)).subtree?.root ?? emptyTrieRoot
}

const digits: readonly number[] = Array.from({ length: 16 }, (_, i) => i)

/** Default limit of entries in memory, about 60 bytes each. */
const defaultMaxEntries = 1_000_000
