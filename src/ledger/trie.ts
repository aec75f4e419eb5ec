import { type Hex, hexToBytes, noBytes } from '../lib/hex.ts'
import { sha256 } from '../protocol/hash.ts'

/** A sparse Merkle trie: the authenticated map and set of slot commitments (ledger reference 11.2). */

/** An authenticated map. It is immutable: an update shares unchanged subtrees. */
export interface Trie {
  readonly top: Subtree
}

export const emptyTrie: Trie = { top: undefined }

/** The root of a map or set without entries: 32 zero bytes. */
export const emptyTrieRoot: Uint8Array = new Uint8Array(32)

/** The root: 32 bytes that depend only on the content of the map, not on the order of insertion. Constant cost. */
export function trieRoot({ top }: Trie): Uint8Array {
  return rootOf(top)
}

/**
 * Returns the map with some values set, or removed where they are `undefined`. Costs one hash per node on the path to each change,
 * about 20 per entry in a map of a million. The common part of the paths of several changes is hashed once.
 */
export function updateTrie(trie: Trie, valueByKey: ReadonlyMap<Hex, Uint8Array | undefined>): Trie {
  const changes: Change[] = []
  for (const [key, value] of valueByKey) changes.push({ path: sha256(hexToBytes(key)), value })
  return { top: update(trie.top, changes, 0) }
}

/** The root of a map that is needed only once. */
export function trieMapRoot(valueByKey: ReadonlyMap<Hex, Uint8Array>): Uint8Array {
  return trieRoot(updateTrie(emptyTrie, valueByKey))
}

/** The root of a set of identifiers: a map with empty values. */
export function trieSetRoot(keys: Iterable<Hex>): Uint8Array {
  const valueByKey = new Map<Hex, Uint8Array>()
  for (const key of keys) valueByKey.set(key, noBytes)
  return trieMapRoot(valueByKey)
}

/** The root of a single entry. `path` is the SHA-256 of its key. */
export function leafRoot(path: Uint8Array, value: Uint8Array): Uint8Array {
  return sha256(leafPrefix, path, value)
}

/** The root over two subtree roots of 32 bytes each. An empty subtree has the empty root. */
export function nodeRoot(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(nodePrefix, left, right)
}

type Subtree = Leaf | Branch | undefined

/** The only entry of its subtree, placed at the depth where it is alone. */
interface Leaf {
  /** SHA-256 of the key. Its bits are the path from the top to the leaf; 0 is left. */
  readonly path: Uint8Array
  readonly value: Uint8Array
  readonly root: Uint8Array
}

/** A subtree of two or more entries. */
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

/** The root of a subtree, which may be empty. */
export function rootOf(subtree: { readonly root: Uint8Array } | undefined): Uint8Array {
  return subtree?.root ?? emptyTrieRoot
}

function update(subtree: Subtree, changes: readonly Change[], depth: number): Subtree {
  if (changes.length === 0) return subtree
  if (subtree !== undefined && 'left' in subtree) {
    const left = update(subtree.left, changes.filter(isLeft(depth)), depth + 1)
    const right = update(subtree.right, changes.filter(isRight(depth)), depth + 1)
    return join(left, right)
  }
  const isKept =
    subtree !== undefined && !changes.some(({ path }) => Buffer.compare(path, subtree.path) === 0)
  return grow(isKept ? [subtree, ...changes] : changes, depth)
}

/** Builds the subtree of entries with different paths. Omits entries without a value. */
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

/** Joins two subtrees under one node. A leaf without a sibling moves up. */
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
