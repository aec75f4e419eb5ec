import { type Hex, hexToBytes, noBytes } from '../lib/hex.ts'
import { sha256 } from '../protocol/hash.ts'
import { leafRoot, nodeRoot, rootOf } from './trie.ts'

/**
 * A trie (ledger reference 11.2) in pages for a database. A page is a subtree at a depth of whole hexadecimal digits of the path. A leaf
 * page has few entries and contains all of them. A branch page contains the roots of 16 child pages. Both kinds contain the roots of
 * their four quarters, so that a change computes few hashes.
 */

/** The bytes of a page. They are immutable. */
export type PageBytes = Uint8Array

/** An entry of a page: the first 20 bytes of its path, and the root of its leaf. */
export type TrieEntry = Uint8Array

/** An entry to set, or the first 20 bytes of the path of an entry to remove. */
export type TrieChange = Uint8Array

/** A subtree; `undefined` if it is empty. */
export type Subtree = { readonly root: Uint8Array; readonly isLeaf: boolean } | undefined

/** A changed page and its subtree. An empty page has no bytes. */
export interface ChangedPage {
  readonly bytes: PageBytes | undefined
  readonly subtree: Subtree
}

/** Depth of the deepest pages. They are leaf pages with any number of entries, whose paths agree in 48 bits. */
export const deepestPage = 12

/** Maximum number of entries in a leaf page above that depth. More entries are divided into 16 child pages. */
export const maxEntries = 32

/** The change that sets a key, or removes it if there is no value. */
export function trieChange(key: Hex, value: Uint8Array | undefined): TrieChange {
  const path = sha256(hexToBytes(key))
  return value === undefined ? path.slice(0, pathLength) : trieEntry(path, value)
}

/** The entry of a key, if the first byte of its path is in the range from `from` (inclusive) to `to` (exclusive). */
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

/** The digit, 0 to 15, at a depth of the path that begins at offset `at`. */
export function digitAt(bytes: Uint8Array, depth: number, at = 0): number {
  const byte = bytes[at + (depth >> 1)] ?? 0
  return depth % 2 === 0 ? byte >> 4 : byte & 15
}

/** Whether a page contains the roots of child pages. */
export function isBranchPage(bytes: PageBytes): boolean {
  return bytes[0] === branchKind
}

export function subtreeOf(bytes: PageBytes): Subtree {
  const quarters = isBranchPage(bytes) ? branchQuarters(bytes) : leafQuarters(bytes)
  return joined(quarters)
}

/** Concatenated entries in the order of their paths. */
export type SortedEntries = Uint8Array

export function countEntries(entries: SortedEntries): number {
  return entries.length / entryLength
}

/** Splits concatenated entries. */
export function listEntries(entries: SortedEntries): TrieEntry[] {
  return Array.from({ length: countEntries(entries) }, (_, i) =>
    entries.subarray(i * entryLength, (i + 1) * entryLength),
  )
}

/** Applies changes with different paths to the entries of a leaf page. */
export function changedEntries(
  bytes: PageBytes | undefined,
  changes: readonly TrieChange[],
): SortedEntries {
  const old = bytes === undefined ? noBytes : bytes.subarray(leafHeader)
  const sorted = changes.length === 1 ? changes : [...changes].sort((a, b) => comparePaths(a, b))
  const entries = new Uint8Array(old.length + changes.length * entryLength)
  let length = 0
  let from = 0
  for (const change of sorted) {
    let to = from
    while (to < old.length && comparePaths(old, change, to) < 0) to += entryLength
    entries.set(old.subarray(from, to), length)
    length += to - from
    from = to < old.length && comparePaths(old, change, to) === 0 ? to + entryLength : to
    if (!isSet(change)) continue
    entries.set(change, length)
    length += entryLength
  }
  entries.set(old.subarray(from), length)
  return entries.subarray(0, length + old.length - from)
}

/**
 * Builds the leaf page of some entries at a depth. Quarters without changes keep their roots from the former page.
 */
export function leafPage(
  entries: SortedEntries,
  depth: number,
  former?: { readonly bytes: PageBytes; readonly changes: readonly TrieChange[] },
): ChangedPage {
  if (entries.length === 0) return { bytes: undefined, subtree: undefined }
  const isChanged = [0, 1, 2, 3].map(() => former === undefined)
  for (const change of former?.changes ?? []) isChanged[digitAt(change, depth) >> 2] = true
  const old = former === undefined ? [] : leafQuarters(former.bytes)
  const bytes = new Uint8Array(leafHeader + entries.length)
  bytes[0] = leafKind
  bytes.set(entries, leafHeader)
  const subtrees: Subtree[] = []
  for (let quarter = 0, from = 0; quarter < 4; quarter++) {
    let to = from
    while (to < entries.length && digitAt(entries, depth, to) >> 2 === quarter) to += entryLength
    const range = { from, to, bit: 4 * depth + 2 }
    const subtree = isChanged[quarter] ? subtreeOfEntries(entries, range) : old[quarter]
    const count = (to - from) / entryLength
    bytes[1 + 2 * quarter] = count >> 8
    bytes[2 + 2 * quarter] = count & 255
    bytes.set(rootOf(subtree), 9 + 32 * quarter)
    subtrees.push(subtree)
    from = to
  }
  return { bytes, subtree: joined(subtrees) }
}

/** Builds a branch page from a former page and changed child subtrees by digit. */
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

/** Whether a branch page has a child page for a digit. */
export function hasChild(bytes: PageBytes, digit: number): boolean {
  return (bytes[1 + digit] ?? 0) !== 0
}

export function triePath(key: Hex): Uint8Array {
  return sha256(hexToBytes(key))
}

/**
 * Sibling subtrees of the path to an entry within a page at a depth, one per bit. A branch page has four, a leaf page has one per bit
 * until the entry is alone. Returns `undefined` if a leaf page does not contain the entry.
 */
export function siblingsInPage(
  bytes: PageBytes,
  path: Uint8Array,
  depth: number,
): readonly Subtree[] | undefined {
  if (!isBranchPage(bytes)) return siblingsOfEntry(bytes.subarray(leafHeader), path, 4 * depth)
  const siblings: Subtree[] = []
  let subtrees = Array.from({ length: 16 }, (_, place) => readSubtree(bytes, place))
  for (let bit = 4 * depth; bit < 4 * depth + 4; bit++) {
    const half = subtrees.length / 2
    const [left, right] = [subtrees.slice(0, half), subtrees.slice(half)]
    const isRight = hasBit(path, bit, 0)
    siblings.push(joinedAll(isRight ? left : right))
    subtrees = isRight ? right : left
  }
  return siblings
}

function siblingsOfEntry(
  entries: SortedEntries,
  path: Uint8Array,
  firstBit: number,
): readonly Subtree[] | undefined {
  const siblings: Subtree[] = []
  let [from, to] = [0, entries.length]
  for (let bit = firstBit; to - from > entryLength; bit++) {
    let middle = from
    while (middle < to && !hasBit(entries, bit, middle)) middle += entryLength
    const isRight = hasBit(path, bit, 0)
    const other = isRight ? { from, to: middle } : { from: middle, to }
    siblings.push(subtreeOfEntries(entries, { ...other, bit: bit + 1 }))
    if (isRight) from = middle
    else to = middle
  }
  return to > from && comparePaths(entries, path, from) === 0 ? siblings : undefined
}

/** Joins 1, 2, 4 or 8 subtrees into one. */
function joinedAll(subtrees: readonly Subtree[]): Subtree {
  const [first] = subtrees
  if (subtrees.length === 1) return first
  const half = subtrees.length / 2
  return join(joinedAll(subtrees.slice(0, half)), joinedAll(subtrees.slice(half)))
}

/** Bytes of a path, of which the pages have no more. */
export const pathLength = 20

/** Bytes of an entry: its path and the root of its leaf. */
export const entryLength = pathLength + 32

// A leaf page: the kind, four 16-bit counts and four roots for the quarters, the entries.
const leafKind = 0
const leafHeader = 1 + 4 * 2 + 4 * 32

// A branch page: the kind, one byte per subtree (0 empty, 1 a leaf, 2 more entries), and the roots: of 16 digits, then of four quarters.
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

interface EntryRange {
  readonly from: number
  readonly to: number
  /** The bit of the path that divides the range. */
  readonly bit: number
}

function subtreeOfEntries(entries: SortedEntries, { from, to, bit }: EntryRange): Subtree {
  if (from === to) return undefined
  if (to - from === entryLength) {
    return { root: entries.subarray(from + pathLength, to), isLeaf: true }
  }
  let middle = from
  while (middle < to && !hasBit(entries, bit, middle)) middle += entryLength
  return join(
    subtreeOfEntries(entries, { from, to: middle, bit: bit + 1 }),
    subtreeOfEntries(entries, { from: middle, to, bit: bit + 1 }),
  )
}

function hasBit(bytes: Uint8Array, bit: number, at: number): boolean {
  return ((bytes[at + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0
}

function joined([a, b, c, d]: readonly Subtree[]): Subtree {
  return join(join(a, b), join(c, d))
}

/** Joins two subtrees under one node. A leaf without a sibling moves up. */
function join(left: Subtree, right: Subtree): Subtree {
  if (right === undefined && left?.isLeaf !== false) return left
  if (left === undefined && right?.isLeaf !== false) return right
  return { root: nodeRoot(rootOf(left), rootOf(right)), isLeaf: false }
}

function comparePaths(a: Uint8Array, b: Uint8Array, at = 0): number {
  for (let i = 0; i < pathLength; i++) {
    const difference = (a[at + i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
