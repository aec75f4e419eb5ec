import { type Hex, hexToBytes } from '../lib/hex.ts'
import { sha256 } from '../protocol/hash.ts'
import { emptyTrieRoot, leafRoot, nodeRoot } from './trie.ts'

/**
 * A trie (ledger reference 11.2) in pages, so that it can be kept in a database: a page is a subtree at a depth of whole
 * hexadecimal digits of the path. One with few entries has them all; another one has the roots of the 16 subtrees below it,
 * each a page of its own. Either has the roots of its four quarters, so that a change computes few hashes.
 */

/** A page in bytes, which are never changed. */
export type PageBytes = Uint8Array

/** An entry as pages have it: the first 20 bytes of its path, and the root of its leaf. */
export type TrieEntry = Uint8Array

/** An entry that is set, or the first 20 bytes of the path of one that is removed. */
export type TrieChange = Uint8Array

/** A subtree as the node above it sees it; `undefined` where it has no entry. */
export type Subtree = { readonly root: Uint8Array; readonly isLeaf: boolean } | undefined

/** A page and the subtree that it is; without bytes where it has no entry left. */
export interface ChangedPage {
  readonly bytes: PageBytes | undefined
  readonly subtree: Subtree
}

/** Pages at this depth have all their entries, however many: their paths agree in 48 bits. */
export const deepestPage = 12

/** The most entries of a page above it. A page of more is 16 pages. */
export const mostEntries = 64

/** What setting a key, or removing it where there is no value, changes. */
export function trieChange(key: Hex, value: Uint8Array | undefined): TrieChange {
  const path = sha256(hexToBytes(key))
  return value === undefined ? path.slice(0, pathLength) : trieEntry(path, value)
}

/** The entry of a key, if the first byte of its path is from `from` up to before `to`. */
export function trieEntryWithin(
  { from, to }: { readonly from: number; readonly to: number },
  key: Hex,
  value: Uint8Array,
): TrieEntry | undefined {
  const path = sha256(hexToBytes(key))
  const [first = 0] = path
  return first >= from && first < to ? trieEntry(path, value) : undefined
}

function trieEntry(path: Uint8Array, value: Uint8Array): TrieEntry {
  const entry = new Uint8Array(entryLength)
  entry.set(path.subarray(0, pathLength))
  entry.set(leafRoot(path, value), pathLength)
  return entry
}

/** Whether a change sets an entry. */
export function isSet(change: TrieChange): boolean {
  return change.length === entryLength
}

/** The digit of a path at a depth, 0 to 15. */
export function digitAt(path: Uint8Array, depth: number): number {
  const byte = path[depth >> 1] ?? 0
  return depth % 2 === 0 ? byte >> 4 : byte & 15
}

/** Whether a page has the roots of other pages. */
export function isBranchPage(bytes: PageBytes): boolean {
  return bytes[0] === branchKind
}

/** The subtree that a page is. */
export function subtreeOf(bytes: PageBytes): Subtree {
  const quarters = isBranchPage(bytes) ? branchQuarters(bytes) : leafQuarters(bytes)
  return joined(quarters)
}

/** The entries of a page after changes, in the order of their paths. */
export function changedEntries(
  bytes: PageBytes | undefined,
  changes: readonly TrieChange[],
): TrieEntry[] {
  const sorted = changes.length === 1 ? changes : [...changes].sort(comparePaths)
  const merged: TrieEntry[] = []
  let at = 0
  for (const entry of bytes === undefined ? [] : entriesOf(bytes)) {
    for (; at < sorted.length; at++) {
      const change = sorted[at] as TrieChange
      if (comparePaths(change, entry) >= 0) break
      if (isSet(change)) merged.push(change)
    }
    const change = sorted[at]
    if (change === undefined || comparePaths(change, entry) !== 0) merged.push(entry)
  }
  for (; at < sorted.length; at++) {
    const change = sorted[at] as TrieChange
    if (isSet(change)) merged.push(change)
  }
  return merged
}

/**
 * The page of these entries at a depth. The quarters without changes have the roots that they have in the former page.
 */
export function leafPage(
  entries: readonly TrieEntry[],
  depth: number,
  former?: { readonly bytes: PageBytes; readonly changes: readonly TrieChange[] },
): ChangedPage {
  if (entries.length === 0) return { bytes: undefined, subtree: undefined }
  const quarters = leafRanges(entries, depth)
  const isChanged = [0, 1, 2, 3].map(() => former === undefined)
  for (const change of former?.changes ?? []) isChanged[digitAt(change, depth) >> 2] = true
  const old = former === undefined ? [] : leafQuarters(former.bytes)
  const subtrees = quarters.map(([from, to], i) =>
    isChanged[i] ? subtreeOfEntries(entries, { from, to, bit: 4 * depth + 2 }) : old[i],
  )
  const bytes = new Uint8Array(leafHeader + entries.length * entryLength)
  const view = new DataView(bytes.buffer)
  bytes[0] = leafKind
  for (const [i, [from, to]] of quarters.entries()) view.setUint16(1 + 2 * i, to - from)
  for (const [i, subtree] of subtrees.entries()) bytes.set(rootOf(subtree), 9 + 32 * i)
  for (const [i, entry] of entries.entries()) bytes.set(entry, leafHeader + i * entryLength)
  return { bytes, subtree: joined(subtrees) }
}

/** The page of the subtrees of 16 digits after changes of some of them; `former` is the page before. */
export function branchPage(
  former: PageBytes | undefined,
  changed: ReadonlyMap<number, Subtree>,
): ChangedPage {
  const bytes = former === undefined ? new Uint8Array(branchLength) : former.slice()
  bytes[0] = branchKind
  for (const [digit, subtree] of changed) writeSubtree(bytes, digit, subtree)
  for (const quarter of new Set([...changed.keys()].map((digit) => digit >> 2))) {
    const four = [0, 1, 2, 3].map((i) => readSubtree(bytes, quarter * 4 + i))
    writeSubtree(bytes, 16 + quarter, joined(four))
  }
  const subtree = joined(branchQuarters(bytes))
  return { bytes: subtree === undefined ? undefined : bytes, subtree }
}

/** Whether there is a page below a branch page for a digit. */
export function hasChild(bytes: PageBytes, digit: number): boolean {
  return (bytes[1 + digit] ?? 0) !== 0
}

const pathLength = 20
const entryLength = pathLength + 32

// A page of entries: its kind, four counts of 16 bits and four roots for the quarters, the entries.
const leafKind = 0
const leafHeader = 1 + 4 * 2 + 4 * 32

// A page of roots: its kind, one byte a subtree (0 empty, 1 a leaf, 2 more), their roots; the 16 digits, then the four quarters.
const branchKind = 1
const branchHeader = 1 + 20
const branchLength = branchHeader + 20 * 32

function readSubtree(bytes: PageBytes, place: number): Subtree {
  const kind = bytes[1 + place]
  if (kind === 0) return undefined
  const at = branchHeader + 32 * place
  return { root: bytes.subarray(at, at + 32), isLeaf: kind === 1 }
}

function writeSubtree(bytes: Uint8Array, place: number, subtree: Subtree): void {
  bytes[1 + place] = subtree === undefined ? 0 : subtree.isLeaf ? 1 : 2
  bytes.set(rootOf(subtree), branchHeader + 32 * place)
}

function branchQuarters(bytes: PageBytes): Subtree[] {
  return [16, 17, 18, 19].map((place) => readSubtree(bytes, place))
}

function leafQuarters(bytes: PageBytes): Subtree[] {
  return [0, 1, 2, 3].map((i) => {
    const count = ((bytes[1 + 2 * i] ?? 0) << 8) | (bytes[2 + 2 * i] ?? 0)
    if (count === 0) return undefined
    return { root: bytes.subarray(9 + 32 * i, 41 + 32 * i), isLeaf: count === 1 }
  })
}

function entriesOf(bytes: PageBytes): TrieEntry[] {
  const count = (bytes.length - leafHeader) / entryLength
  return Array.from({ length: count }, (_, i) => {
    const at = leafHeader + i * entryLength
    return bytes.subarray(at, at + entryLength)
  })
}

/** The entries of each quarter, from one place to before another. */
function leafRanges(entries: readonly TrieEntry[], depth: number): [number, number][] {
  const ranges: [number, number][] = []
  let at = 0
  for (let quarter = 0; quarter < 4; quarter++) {
    const from = at
    while (at < entries.length && digitAt(entries[at] as TrieEntry, depth) >> 2 === quarter) at++
    ranges.push([from, at])
  }
  return ranges
}

interface EntryRange {
  readonly from: number
  readonly to: number
  /** The bit of the path that divides them. */
  readonly bit: number
}

function subtreeOfEntries(entries: readonly TrieEntry[], { from, to, bit }: EntryRange): Subtree {
  const first = entries[from]
  if (from === to || first === undefined) return undefined
  if (to - from === 1) return { root: first.subarray(pathLength), isLeaf: true }
  let middle = from
  while (middle < to && !hasBit(entries[middle] as TrieEntry, bit)) middle++
  return join(
    subtreeOfEntries(entries, { from, to: middle, bit: bit + 1 }),
    subtreeOfEntries(entries, { from: middle, to, bit: bit + 1 }),
  )
}

function hasBit(path: Uint8Array, bit: number): boolean {
  return ((path[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0
}

function joined([a, b, c, d]: readonly Subtree[]): Subtree {
  return join(join(a, b), join(c, d))
}

/** Two halves under one node. A leaf that is left alone moves up. */
function join(left: Subtree, right: Subtree): Subtree {
  if (right === undefined && left?.isLeaf !== false) return left
  if (left === undefined && right?.isLeaf !== false) return right
  return { root: nodeRoot(rootOf(left), rootOf(right)), isLeaf: false }
}

function rootOf(subtree: Subtree): Uint8Array {
  return subtree?.root ?? emptyTrieRoot
}

function comparePaths(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < pathLength; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
