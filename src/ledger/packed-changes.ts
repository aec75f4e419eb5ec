import { type Hex, noBytes } from '../lib/hex.ts'
import { entryLength, isSet, pathLength, type TrieChange, trieChange } from './trie-page.ts'

/**
 * Changes of a trie as bytes, by the first byte of their paths: 53 bytes for each change, instead of an object of 200. A large slot is
 * applied part by part, and only the changes of one part are objects.
 */
export interface PackedChanges {
  readonly count: () => number
  /** Sets a key, or removes it if there is no value. Every key is added once. */
  add(key: Hex, value: Uint8Array | undefined): void
  /** Number of changes whose paths begin with some digits; at most two. */
  countWithin(digits: readonly number[]): number
  /** The changes whose paths begin with some digits, at most two, as views of the memory of this list. */
  within(digits: readonly number[]): TrieChange[]
}

/** Creates an empty list. */
export function packChanges(): PackedChanges {
  const buckets = new Map<number, Bucket>()
  let count = 0

  function add(key: Hex, value: Uint8Array | undefined): void {
    const change = trieChange(key, value)
    const first = change[0] ?? 0
    const bucket = buckets.get(first) ?? { bytes: noBytes, count: 0 }
    buckets.set(first, bucket)
    const at = bucket.count++ * stride
    if (at === bucket.bytes.length) {
      const larger = new Uint8Array(2 * at + 8 * stride)
      larger.set(bucket.bytes)
      bucket.bytes = larger
    }
    bucket.bytes[at] = isSet(change) ? 1 : 0
    bucket.bytes.set(change, at + 1)
    count++
  }

  function ofDigits([high, low]: readonly number[]): readonly Bucket[] {
    const [from, to] = high === undefined ? [0, 256] : [16 * high, 16 * high + 16]
    const firsts = low === undefined ? range(from, to) : [from + low]
    return firsts.flatMap((first) => buckets.get(first) ?? [])
  }

  return {
    count: () => count,
    add,
    countWithin: (digits) => ofDigits(digits).reduce((sum, bucket) => sum + bucket.count, 0),
    within: (digits) => ofDigits(digits).flatMap(changesIn),
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

/** The changes whose paths have the same first byte, one after another. */
interface Bucket {
  bytes: Uint8Array
  count: number
}

function changesIn({ bytes, count }: Bucket): TrieChange[] {
  return Array.from({ length: count }, (_, i) => {
    const from = i * stride + 1
    return bytes.subarray(from, from + (bytes[from - 1] === 1 ? entryLength : pathLength))
  })
}

/** A change sets an entry or removes one, which is its first byte. */
const stride = 1 + entryLength
