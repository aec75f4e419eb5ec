import { LRUCache } from 'lru-cache'
import { emptyTrieRoot } from '../../ledger/trie.ts'
import {
  branchPage,
  type ChangedPage,
  changedEntries,
  countEntries,
  deepestPage,
  digitAt,
  hasChild,
  isBranchPage,
  isSet,
  leafPage,
  listEntries,
  mostEntries,
  type PageBytes,
  type Subtree,
  subtreeOf,
  type TrieChange,
  type TrieEntry,
  trieChange,
} from '../../ledger/trie-page.ts'
import type { Hex } from '../../lib/hex.ts'
import { createTurns, eachInTurns, type Turns } from '../../lib/turns.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { TrieChanges, TriePage } from '../../store/trie-contract.ts'

/**
 * The tries behind the roots of commitments, kept in the database in pages. Memory has the pages that were used last, up to
 * a bound, and those that changed and are not written yet.
 */

/** The tries by their number in the ids of pages. */
export const keptTries = { outputs: 0, accounts: 1 } as const

/** A trie that is kept. */
export type KeptTrie = keyof typeof keptTries

/** The tries at the end of the newest slot, written or not. */
export interface KeptTries {
  /** Sets keys, or removes them where there is no value, and gives the root. Holds the event loop for pieces of 5 ms. */
  update(trie: KeptTrie, valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>): Promise<Uint8Array>
  /** The same of changes in pages' own form. */
  change(trie: KeptTrie, changes: readonly TrieChange[]): Promise<Uint8Array>
  /** The pages that changed since the last `written`. */
  changes(): TrieChanges
  /** Notes that these changes are in the database; nothing may change until it is done. */
  written(): Promise<void>
}

/** Opens the tries; pages of up to `cacheBytes` stay in memory. */
export function openKeptTries(read: Pick<StoreReader, 'triePages'>, cacheBytes: number): KeptTries {
  const cache = new LRUCache<number, PageBytes>({
    maxSize: Math.max(cacheBytes, 1),
    sizeCalculation: (bytes) => bytes.length + pageOverhead,
  })
  /** Without bytes those that are gone. */
  const unwritten = new Map<number, PageBytes | undefined>()
  const roots = new Map<KeptTrie, Uint8Array>()

  async function update(
    trie: KeptTrie,
    valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>,
  ): Promise<Uint8Array> {
    const turns = createTurns()
    const changes: TrieChange[] = []
    for (const [key, value] of valueByKey) {
      changes.push(trieChange(key, value))
      if (changes.length % changesPerTurn === 0) await turns.pass()
    }
    return change(trie, changes)
  }

  async function change(trie: KeptTrie, changes: readonly TrieChange[]): Promise<Uint8Array> {
    const known = roots.get(trie)
    if (changes.length === 0 && known !== undefined) return known
    const turns = createTurns()
    const node: Node = { place: topOf(trie), changes, bytes: undefined, children: undefined }
    await load(node, turns)
    const subtree =
      changes.length === 0
        ? node.bytes && subtreeOf(node.bytes)
        : await applied(node, { put: (id, bytes) => unwritten.set(id, bytes), turns })
    const root = subtree?.root.slice() ?? emptyTrieRoot
    roots.set(trie, root)
    return root
  }

  /** Reads the pages on the way to all changes, level by level. */
  async function load(top: Node, turns: Turns): Promise<void> {
    for (let level = [top]; level.length > 0; ) {
      await loadLevel(level, turns)
      const next: Node[] = []
      for (const node of level) {
        if (node.bytes === undefined || !isBranchPage(node.bytes)) continue
        node.children = await childrenOf(node, turns)
        for (const [digit, child] of node.children)
          if (hasChild(node.bytes, digit)) next.push(child)
        await turns.pass()
      }
      level = next
    }
  }

  async function loadLevel(level: readonly Node[], turns: Turns): Promise<void> {
    const missing: Node[] = []
    for (const node of level) {
      const { id } = node.place
      node.bytes = unwritten.has(id) ? unwritten.get(id) : cache.get(id)
      if (node.bytes === undefined && !unwritten.has(id)) missing.push(node)
    }
    for (let at = 0; at < missing.length; at += pagesPerRead) {
      const some = missing.slice(at, at + pagesPerRead)
      const found = await read.triePages(some.map(({ place }) => place.id))
      const bytesById = new Map(found.map(({ id, bytes }) => [id, bytes]))
      for (const node of some) {
        node.bytes = bytesById.get(node.place.id)
        if (node.bytes !== undefined) cache.set(node.place.id, node.bytes)
      }
      await turns.pass()
    }
  }

  function changes(): TrieChanges {
    const put: TriePage[] = []
    const removed: number[] = []
    for (const [id, bytes] of unwritten) {
      if (bytes === undefined) removed.push(id)
      else put.push({ id, bytes })
    }
    return { put, removed }
  }

  async function written(): Promise<void> {
    await eachInTurns(unwritten, ([id, bytes]) => {
      if (bytes === undefined) cache.delete(id)
      else cache.set(id, bytes)
    })
    unwritten.clear()
  }

  return { update, change, changes, written }
}

/** What a page in memory takes beside its bytes. */
const pageOverhead = 250

/** So many hashes take less than a millisecond. */
const changesPerTurn = 256

/** SQLite reads so many in a few milliseconds. */
const pagesPerRead = 400

/** Where a page is: its trie, the first digits of the paths in it, and how many. */
interface Place {
  readonly id: number
  /** The first 48 bits of the paths, zeros behind its digits. */
  readonly prefix: number
  readonly depth: number
}

function topOf(trie: KeptTrie): Place {
  return { id: keptTries[trie] * idsOfTrie, prefix: 0, depth: 0 }
}

/** Ids sort by path, and of one path the outer page comes first; all are whole numbers below 2^53. */
function below(place: Place, digit: number): Place {
  const depth = place.depth + 1
  const added = digit * 16 ** (deepestPage - depth)
  return { id: place.id + added * depthsOfPath + 1, prefix: place.prefix + added, depth }
}

/** The outermost page of a trie. */
export function topPage(trie: KeptTrie): number {
  return topOf(trie).id
}

/** How many digits the paths in a page have in common. */
export function depthOfPage(id: number): number {
  return id % depthsOfPath
}

/** The page below a branch page for a digit of the path. */
export function pageBelow(id: number, digit: number): number {
  return below({ id, prefix: 0, depth: depthOfPage(id) }, digit).id
}

const depthsOfPath = 16
const idsOfTrie = 16 ** deepestPage * depthsOfPath

/** A page on the way to changes. */
interface Node {
  readonly place: Place
  readonly changes: readonly TrieChange[]
  /** `undefined` where there is none yet. */
  bytes: PageBytes | undefined
  /** Of a branch page: those with changes, by digit. */
  children: ReadonlyMap<number, Node> | undefined
}

async function childrenOf({ place, changes }: Node, turns: Turns): Promise<Map<number, Node>> {
  const children = new Map<number, Node>()
  for (const [digit, own] of await byDigit(changes, place.depth, turns)) {
    const child = { place: below(place, digit), changes: own }
    children.set(digit, { ...child, bytes: undefined, children: undefined })
  }
  return children
}

async function byDigit<T extends Uint8Array>(
  paths: readonly T[],
  depth: number,
  turns: Turns,
): Promise<Map<number, T[]>> {
  const lists = new Map<number, T[]>()
  for (const [i, path] of paths.entries()) {
    const digit = digitAt(path, depth)
    const list = lists.get(digit)
    if (list === undefined) lists.set(digit, [path])
    else list.push(path)
    if (i % pathsPerTurn === pathsPerTurn - 1) await turns.pass()
  }
  return lists
}

const pathsPerTurn = 4_096

interface Applying {
  put(id: number, bytes: PageBytes | undefined): void
  readonly turns: Turns
}

/** Applies the changes of a page and of those below it, from the bottom up. */
async function applied(node: Node, on: Applying): Promise<Subtree> {
  const { place, changes, bytes, children } = node
  await on.turns.pass()
  if (children !== undefined) {
    const changed = new Map<number, Subtree>()
    for (const [digit, child] of children) changed.set(digit, await applied(child, on))
    return put(place, branchPage(bytes, changed), on)
  }
  if (bytes === undefined) return grown(place, changes.filter(isSet), on)
  const entries = changedEntries(bytes, changes)
  const isMuch = countEntries(entries) > mostEntries && place.depth < deepestPage
  if (isMuch) return grown(place, listEntries(entries), on)
  return put(place, leafPage(entries, place.depth, { bytes, changes }), on)
}

/** The page of entries with different paths, in any order, and those below it, where there was none or one with entries. */
async function grown(place: Place, entries: readonly TrieEntry[], on: Applying): Promise<Subtree> {
  await on.turns.pass()
  if (entries.length <= mostEntries || place.depth === deepestPage) {
    return put(place, leafPage(changedEntries(undefined, entries), place.depth), on)
  }
  const changed = new Map<number, Subtree>()
  for (const [digit, own] of await byDigit(entries, place.depth, on.turns)) {
    changed.set(digit, await grown(below(place, digit), own, on))
  }
  return put(place, branchPage(undefined, changed), on)
}

function put(place: Place, { bytes, subtree }: ChangedPage, on: Applying): Subtree {
  on.put(place.id, bytes)
  return subtree
}
