import { randomInt } from 'node:crypto'
import type { Hex } from './hex.ts'
import { createPackedBytes, maxPackedLength, offsetOf } from './packed-bytes.ts'

/**
 * A map from short byte strings, given as text, to 64-bit integers. With many keys it becomes a few large arrays of about 24 bytes per
 * key in addition to the key. A map of texts takes ten times as much, and the garbage collector moves each of them.
 */
export interface PackedMap {
  get(key: Hex): bigint | undefined
  set(key: Hex, value: bigint): void
}

/** Creates an empty map. A map of at most `maxTexts` keys is a plain one, which is faster. */
export function createPackedMap(maxTexts = defaultMaxKeys): PackedMap {
  const few = new Map<Hex, bigint>()
  let many: PackedMap | undefined

  function set(key: Hex, value: bigint): void {
    const known = many ?? few
    known.set(key, value)
    if (few.size <= maxTexts) return
    many = createPackedTable()
    for (const [text, former] of few) many.set(text, former)
    few.clear()
  }

  return { get: (key) => (many ?? few).get(key), set }
}

/** More keys than a usual slot needs. */
const defaultMaxKeys = 4_096

function createPackedTable(): PackedMap {
  const keys = createPackedBytes()
  let count = 0
  let places = new Float64Array(defaultMaxKeys)
  let hashes = new Int32Array(defaultMaxKeys)
  let values = new BigInt64Array(defaultMaxKeys)
  /** The number of a key plus one, at the first free place after its hash. It has at least twice as many places as there are keys. */
  let table = new Int32Array(2 * defaultMaxKeys)

  /** Returns the index in the table of the key in memory, or of the place where it belongs. */
  function indexOf(length: number, hash: number): number {
    const mask = table.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const number = (table[at] ?? 0) - 1
      if (number < 0 || (hashes[number] === hash && isKey(number, length))) return at
    }
  }

  function isKey(number: number, length: number): boolean {
    const place = places[number] ?? 0
    if (keys.lengthOf(place) !== length) return false
    const from = offsetOf(place)
    return keys.blockOf(place).compare(memory, 0, length, from, from + length) === 0
  }

  function get(key: Hex): bigint | undefined {
    const length = writeKey(key)
    const number = (table[indexOf(length, hashOf(length))] ?? 0) - 1
    return number < 0 ? undefined : values[number]
  }

  function set(key: Hex, value: bigint): void {
    const length = writeKey(key)
    const hash = hashOf(length)
    const known = (table[indexOf(length, hash)] ?? 0) - 1
    if (known >= 0) {
      values[known] = value
      return
    }
    if (count === places.length) grow()
    const number = count++
    places[number] = keys.add(memory.subarray(0, length))
    hashes[number] = hash
    values[number] = value
    table[indexOf(length, hash)] = number + 1
  }

  /** Doubles the capacity. At 300,000 keys this takes some five milliseconds. */
  function grow(): void {
    places = grown(places, new Float64Array(2 * count))
    hashes = grown(hashes, new Int32Array(2 * count))
    values = grown(values, new BigInt64Array(2 * count))
    table = new Int32Array(4 * count)
    fill(table, hashes.subarray(0, count))
  }

  return { get, set }
}

/** Enters the numbers of keys with some hashes, plus one, into an empty table. */
function fill(table: Int32Array, hashes: Int32Array): void {
  const mask = table.length - 1
  for (const [number, hash] of hashes.entries()) {
    let at = hash & mask
    while (table[at] !== 0) at = (at + 1) & mask
    table[at] = number + 1
  }
}

function grown<T extends { set(values: T): void }>(former: T, larger: T): T {
  larger.set(former)
  return larger
}

/** The bytes of the key of one call. Of a key that is too long there is one byte too many, so that it is refused. */
const memory = Buffer.alloc(maxPackedLength + 1)

/** Writes a key into the memory. Returns its length. */
function writeKey(key: Hex): number {
  return memory.write(key.slice(2), 'hex')
}

/** A random seed of the hash, so that a client cannot choose keys that collide. */
const seed = randomInt(2 ** 32 - 1) | 0

/** FNV-1a over all bytes of the key in memory, with a last step that mixes the upper bits into the lower ones. */
function hashOf(length: number): number {
  let hash = seed
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (memory[i] ?? 0), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  return hash ^ (hash >>> 13)
}
