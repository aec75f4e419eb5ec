/** A lossy set of hashes in constant memory: a hash replaces the one that has the same lowest bits. */
export interface HashSet {
  has(hash: number): boolean
  add(hash: number): void
}

/** Creates a set of at most `size` hashes, integers from 0 to 2^32 - 1. It is empty, but has 0 until another hash replaces it. */
export function createHashSet(size: number): HashSet {
  const hashes = new Uint32Array(size)
  return {
    has: (hash) => hashes[hash % size] === hash,
    add: (hash) => {
      hashes[hash % size] = hash
    },
  }
}
