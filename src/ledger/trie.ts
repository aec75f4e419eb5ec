import { type Hex, hexToBytes } from '../lib/hex.ts'
import { sha256 } from '../protocol/hash.ts'

/** A sparse trie by key, the authenticated map and set of slot commitments (ledger reference 11.2). */

/** A map whose root says what it holds. It is never changed: an update shares what it leaves alone. */
export interface Trie {
  readonly top: Subtree
}

/** An empty map. */
export const emptyTrie: Trie = { top: undefined }

/** The root of a map or set without entries: 32 zero bytes. */
export const emptyTrieRoot: Uint8Array = new Uint8Array(32)

/** 32 bytes that depend on what the map holds only, not on the order in which it came. No cost. */
export function trieRoot({ top }: Trie): Uint8Array {
  return rootOf(top)
}

/**
 * The map with some values set, or removed where they are `undefined`. Costs a hash for every node on the way to
 * what changes, some twenty an entry among a million; of many changes at once the common part of the way once.
 */
export function updateTrie(trie: Trie, valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>): Trie {
  const changes: Change[] = []
  for (const [key, value] of valueByKey) changes.push({ path: sha256(hexToBytes(key)), value })
  return { top: update(trie.top, changes, 0) }
}

/** Root of a map that is needed once. */
export function trieMapRoot(valueByKey: ReadonlyMap<Hex, Uint8Array>): Uint8Array {
  return trieRoot(updateTrie(emptyTrie, valueByKey))
}

/** Root of a set of identifiers: a map whose values are empty. */
export function trieSetRoot(keys: Iterable<Hex>): Uint8Array {
  const valueByKey = new Map<Hex, Uint8Array>()
  for (const key of keys) valueByKey.set(key, noBytes)
  return trieMapRoot(valueByKey)
}

/** The root of a single entry; `path` is the SHA-256 of its key. */
export function leafRoot(path: Uint8Array, value: Uint8Array): Uint8Array {
  return sha256(leafPrefix, path, value)
}

/** The root over two halves, each 32 bytes, the empty root for one without entries. */
export function nodeRoot(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(nodePrefix, left, right)
}

type Subtree = Leaf | Branch | undefined

/** The only entry below its node, at whatever depth it is alone. */
interface Leaf {
  /** SHA-256 of the key; its bits lead from the top to the leaf, zero to the left. */
  readonly path: Uint8Array
  readonly value: Uint8Array
  readonly root: Uint8Array
}

/** Two entries or more. */
interface Branch {
  readonly left: Subtree
  readonly right: Subtree
  readonly root: Uint8Array
}

interface Change {
  readonly path: Uint8Array
  readonly value: Uint8Array | undefined
}

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)
const noBytes = new Uint8Array(0)

function rootOf(subtree: Subtree): Uint8Array {
  return subtree?.root ?? emptyTrieRoot
}

function update(subtree: Subtree, changes: readonly Change[], depth: number): Subtree {
  if (changes.length === 0) return subtree
  if (subtree !== undefined && 'left' in subtree) {
    const left = update(subtree.left, changes.filter(isLeft(depth)), depth + 1)
    const right = update(subtree.right, changes.filter(isRight(depth)), depth + 1)
    return join(left, right)
  }
  const isKept = subtree !== undefined && !changes.some((one) => isEqual(one.path, subtree.path))
  return grow(isKept ? [subtree, ...changes] : changes, depth)
}

/** The subtree of some entries with different paths; those without value are left out. */
function grow(entries: readonly Change[], depth: number): Subtree {
  const kept = entries.filter(({ value }) => value !== undefined)
  const [only] = kept
  if (only?.value === undefined) return undefined
  if (kept.length === 1) {
    const { path, value } = only
    return { path, value, root: leafRoot(path, value) }
  }
  const left = grow(kept.filter(isLeft(depth)), depth + 1)
  const right = grow(kept.filter(isRight(depth)), depth + 1)
  return join(left, right)
}

/** Two halves under one node. A leaf that is left alone moves up. */
function join(left: Subtree, right: Subtree): Subtree {
  if (right === undefined && !isBranch(left)) return left
  if (left === undefined && !isBranch(right)) return right
  return { left, right, root: nodeRoot(rootOf(left), rootOf(right)) }
}

function isBranch(subtree: Subtree): boolean {
  return subtree !== undefined && 'left' in subtree
}

function isLeft(depth: number) {
  return ({ path }: Change) => !hasBit(path, depth)
}

function isRight(depth: number) {
  return ({ path }: Change) => hasBit(path, depth)
}

/** The most significant bit of a byte comes first. */
function hasBit(path: Uint8Array, depth: number): boolean {
  const byte = path[depth >> 3] ?? 0
  return (byte & (0x80 >> (depth & 7))) !== 0
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
