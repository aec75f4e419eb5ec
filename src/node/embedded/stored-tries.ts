import { LRUCache } from 'lru-cache'
import { type PackedChanges, packChanges } from '../../ledger/packed-changes.ts'
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
  maxEntries,
  type PageBytes,
  type Subtree,
  subtreeOf,
  type TrieChange,
  type TrieEntry,
} from '../../ledger/trie-page.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Hex } from '../../lib/hex.ts'
import { createTurns, eachInTurns, passTurn, type Turns } from '../../lib/turns.ts'
import type { TrieChanges, TriePage } from '../../store/contract/trie.ts'
import type { StoreReader } from '../../store/contract.ts'

/**
 * The tries behind the roots of commitments, stored in the database in pages. Memory holds the most recently used pages, up
 * to a size limit, and the changed pages that are not written yet.
 */

/** The number of each trie in page ids. */
const storedTries = { outputs: 0, accounts: 1 } as const

export type StoredTrie = keyof typeof storedTries

/** The tries at the end of the newest slot, whether that slot is written or not. */
export interface StoredTries {
  /** Sets keys, removes the keys without a value, and returns the root. Yields to the event loop every 2 ms. */
  update(
    trie: StoredTrie,
    valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>,
  ): Promise<Uint8Array>
  /** The same as `update`, for changes in the format of pages. */
  change(trie: StoredTrie, changes: readonly TrieChange[]): Promise<Uint8Array>
  /** The same as `update`, for changes in compact form. Many changes are applied part by part, so that few of them are objects. */
  changeMany(trie: StoredTrie, changes: PackedChanges): Promise<Uint8Array>
  /** The pages that changed since the last `written`. */
  changes(): TrieChanges
  /** Marks the changes as stored in the database. No trie may change until the promise resolves. */
  written(): Promise<void>
}

/** Opens the tries. Up to `cacheBytes` bytes of pages stay in memory. At most about `changesAtOnce` changes are applied at once. */
export function openStoredTries(
  read: Pick<StoreReader, 'triePages'>,
  cacheBytes: number,
  changesAtOnce = defaultMaxChanges,
): StoredTries {
  const pages = createPageCache(read, cacheBytes)
  const roots = new Map<StoredTrie, Uint8Array>()

  async function update(
    trie: StoredTrie,
    valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>,
  ): Promise<Uint8Array> {
    const turns = createTurns()
    const changes = packChanges()
    for (const [key, value] of valueByKey) {
      changes.add(key, value)
      if (changes.count() % changesPerTurn === 0) await turns.pass()
    }
    return changeMany(trie, changes)
  }

  async function changeMany(trie: StoredTrie, changes: PackedChanges): Promise<Uint8Array> {
    if (changes.count() === 0) return change(trie, [])
    const top = { place: topOf(trie), digits: [] }
    return rooted(trie, await applyPart({ pages, changes, changesAtOnce }, top))
  }

  async function change(trie: StoredTrie, changes: readonly TrieChange[]): Promise<Uint8Array> {
    const known = roots.get(trie)
    if (changes.length === 0 && known !== undefined) return known
    const turns = createTurns()
    const node: Node = { place: topOf(trie), changes, bytes: undefined, children: undefined }
    await loadToChanges(pages, node, turns)
    const subtree =
      changes.length === 0
        ? node.bytes && subtreeOf(node.bytes)
        : await applyChanges(node, { put: pages.put, turns })
    return rooted(trie, subtree)
  }

  function rooted(trie: StoredTrie, subtree: Subtree): Uint8Array {
    const root = subtree?.root.slice() ?? emptyTrieRoot
    roots.set(trie, root)
    return root
  }

  return { update, changeMany, change, changes: pages.changes, written: pages.written }
}

/** Hashing this many changes takes less than a millisecond. */
const changesPerTurn = 256

/** Applies the changes whose paths begin with the digits of a place. Many changes are applied digit by digit. */
async function applyPart(
  all: {
    readonly pages: PageCache
    readonly changes: PackedChanges
    readonly changesAtOnce: number
  },
  { place, digits }: { readonly place: Place; readonly digits: readonly number[] },
): Promise<Subtree> {
  const { pages, changes, changesAtOnce } = all
  const turns = createTurns()
  const on = { put: pages.put, turns }
  if (digits.length < 2 && changes.countWithin(digits) > changesAtOnce) {
    const page: Node = { place, changes: [], bytes: undefined, children: undefined }
    await pages.load([page], turns)
    if (page.bytes !== undefined && isBranchPage(page.bytes)) {
      const changed = new Map<number, Subtree>()
      for (let digit = 0; digit < 16; digit++) {
        const part = { place: below(place, digit), digits: [...digits, digit] }
        if (changes.countWithin(part.digits) === 0) continue
        changed.set(digit, await applyPart(all, part))
      }
      return put(place, branchPage(page.bytes, changed), on)
    }
  }
  await passTurn()
  const own = changes.within(digits)
  await passTurn()
  const node: Node = { place, changes: own, bytes: undefined, children: undefined }
  await loadToChanges(pages, node, turns)
  return applyChanges(node, on)
}

/** Changes that are applied together. A usual slot has fewer. As objects they take some 200 bytes each. */
const defaultMaxChanges = 8_192

/** Loads the pages on the paths to all changes, level by level. */
async function loadToChanges(pages: PageCache, top: Node, turns: Turns): Promise<void> {
  for (let level = [top]; level.length > 0; ) {
    await pages.load(level, turns)
    const next: Node[] = []
    for (const node of level) {
      if (node.bytes === undefined || !isBranchPage(node.bytes)) continue
      node.children = await childrenOf(node, turns)
      for (const [digit, child] of node.children) if (hasChild(node.bytes, digit)) next.push(child)
      await turns.pass()
    }
    level = next
  }
}

/** The pages in memory: the most recently used ones, and the changed ones that are not written yet. */
interface PageCache {
  /** Sets the bytes of the nodes, from memory or from the database. */
  load(nodes: readonly Node[], turns: Turns): Promise<void>
  put(id: number, bytes: PageBytes | undefined): void
  changes(): TrieChanges
  written(): Promise<void>
}

function createPageCache(read: Pick<StoreReader, 'triePages'>, cacheBytes: number): PageCache {
  const cache = new LRUCache<number, PageBytes>({
    maxSize: Math.max(cacheBytes, 1),
    sizeCalculation: (bytes) => bytes.length + pageOverhead,
  })
  /** A removed page has no bytes. */
  const unwritten = new Map<number, PageBytes | undefined>()

  async function load(nodes: readonly Node[], turns: Turns): Promise<void> {
    const missing: Node[] = []
    for (const node of nodes) {
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

  return { load, put: (id, bytes) => unwritten.set(id, bytes), changes, written }
}

/** Bytes of memory that a page takes in addition to its content. */
const pageOverhead = 250

/** SQLite reads this many pages in a few milliseconds. */
const pagesPerRead = 400

/** The place of a page: its trie, and the common first digits of the paths in it. */
interface Place {
  readonly id: number
  /** The common digits as the first of 48 bits; the other bits are zero. */
  readonly prefix: number
  /** The number of common digits. */
  readonly depth: number
}

function topOf(trie: StoredTrie): Place {
  return { id: storedTries[trie] * idsOfTrie, prefix: 0, depth: 0 }
}

/** Page ids sort by path, and a page sorts before the pages below it. All ids are integers below 2^53. */
function below(place: Place, digit: number): Place {
  const depth = place.depth + 1
  const added = digit * 16 ** (deepestPage - depth)
  return { id: place.id + added * depthsOfPath + 1, prefix: place.prefix + added, depth }
}

export function topPage(trie: StoredTrie): number {
  return topOf(trie).id
}

/** The number of digits that the paths in a page have in common. */
export function depthOfPage(id: number): number {
  return id % depthsOfPath
}

/** The id of the page below a branch page for a digit of the path. */
export function pageBelow(id: number, digit: number): number {
  return below({ id, prefix: 0, depth: depthOfPage(id) }, digit).id
}

const depthsOfPath = 16
const idsOfTrie = 16 ** deepestPage * depthsOfPath

/** A page on the path to changes. */
interface Node {
  readonly place: Place
  readonly changes: readonly TrieChange[]
  /** `undefined` when the page does not exist yet. */
  bytes: PageBytes | undefined
  /** The children of a branch page that have changes, by digit. */
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
    getOrInsert(lists, digit, () => []).push(path)
    if (i % pathsPerTurn === pathsPerTurn - 1) await turns.pass()
  }
  return lists
}

const pathsPerTurn = 4_096

interface Applying {
  put(id: number, bytes: PageBytes | undefined): void
  readonly turns: Turns
}

/** Applies the changes of a page and of the pages below it, from the bottom up. */
async function applyChanges(node: Node, on: Applying): Promise<Subtree> {
  const { place, changes, bytes, children } = node
  await on.turns.pass()
  if (children !== undefined) {
    const changed = new Map<number, Subtree>()
    for (const [digit, child] of children) changed.set(digit, await applyChanges(child, on))
    return put(place, branchPage(bytes, changed), on)
  }
  if (bytes === undefined) return buildPages(place, changes.filter(isSet), on)
  const entries = changedEntries(bytes, changes)
  const isTooLarge = countEntries(entries) > maxEntries && place.depth < deepestPage
  if (isTooLarge) return buildPages(place, listEntries(entries), on)
  return put(place, leafPage(entries, place.depth, { bytes, changes }), on)
}

/**
 * Builds the page for some entries, and the pages below it, where there was no page or a leaf page. The entries have different
 * paths and may be in any order.
 */
async function buildPages(
  place: Place,
  entries: readonly TrieEntry[],
  on: Applying,
): Promise<Subtree> {
  await on.turns.pass()
  if (entries.length <= maxEntries || place.depth === deepestPage) {
    return put(place, leafPage(changedEntries(undefined, entries), place.depth), on)
  }
  const changed = new Map<number, Subtree>()
  for (const [digit, own] of await byDigit(entries, place.depth, on.turns)) {
    changed.set(digit, await buildPages(below(place, digit), own, on))
  }
  return put(place, branchPage(undefined, changed), on)
}

function put(place: Place, { bytes, subtree }: ChangedPage, on: Applying): Subtree {
  on.put(place.id, bytes)
  return subtree
}
