import { type Hex, isHex } from '../../lib/hex.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Malformed, type RefusalCode } from './refusal.ts'
import type { Json, Schema } from './schema.ts'

/** The map of a metadata feature, and its limits (codec reference 8.1 and 19). */

/** One entry: printable ASCII to bytes. */
export interface MetadataEntry {
  readonly key: string
  readonly value: Hex
}

/**
 * A map, represented as a list in the order of its bytes, because a plain object would reorder keys such as `10`. There are two
 * valid orders: the official SDK sorts by key, the node by the serialized entry, which begins with the length of the key.
 */
export interface MapSchema extends Schema<readonly MetadataEntry[]> {
  readonly kind: 'map'
}

/**
 * 1 to 255 entries, with keys of at most 255 bytes and values of at most 65535 bytes. Bytes may have either order and are
 * written in the order in which they were read. JSON has no order; its entries get the order of the SDK.
 */
export function metadataMap(): MapSchema {
  return {
    kind: 'map',
    brokenForSdk,
    read: (r) => {
      const start = r.at
      const count = r.u8()
      if (count === 0) throw new Malformed('FEATURE_METADATA_COUNT', start)
      const entries: MetadataEntry[] = []
      let orders: readonly MetadataOrder[] = [bySdk, byNode]
      for (let i = 0; i < count; i++) {
        const at = r.at
        const size = r.u8()
        const from = r.take(size)
        const key = r.buf.toString('latin1', from, from + size)
        const broken = brokenKey(key)
        if (broken !== undefined) throw new Malformed(broken, at)
        const former = entries[i - 1]?.key
        if (former !== undefined) orders = orders.filter((order) => order(former, key) < 0)
        if (orders.length === 0) throw new Malformed('FEATURE_METADATA_ORDER', at)
        entries.push({ key, value: r.hex(r.u16()) })
      }
      return entries
    },
    write: (w, entries) => {
      w.u8(entries.length)
      for (const { key, value } of entries) {
        w.u8(key.length)
        const at = w.room(key.length)
        w.buf.write(key, at, 'latin1')
        w.u16((value.length - 2) / 2)
        w.hex(value)
      }
    },
    size: sizeOfEntries,
    parse: (json) => {
      if (!isJsonObject(json)) throw new Malformed('JSON_TYPE')
      const keys = Object.keys(json)
      if (keys.length === 0 || keys.length > 255) throw new Malformed('FEATURE_METADATA_COUNT')
      const entries = Object.entries(json).map(([key, value]) => parseEntry(key, value))
      return sortEntries(entries, bySdk)
    },
    print: (entries): Json => Object.fromEntries(entries.map(({ key, value }) => [key, value])),
  }
}

/** Compares two keys of a map. */
export type MetadataOrder = (a: string, b: string) => number

/** The order of the official SDK: by the bytes of the keys. */
export const bySdk: MetadataOrder = (a, b) => (a === b ? 0 : a < b ? -1 : 1)

/** The order of the node: by the length of the keys, then by their bytes. */
export const byNode: MetadataOrder = (a, b) => a.length - b.length || bySdk(a, b)

export function sortEntries(
  entries: readonly MetadataEntry[],
  order: MetadataOrder,
): MetadataEntry[] {
  return entries.toSorted((a, b) => order(a.key, b.key))
}

/** Maximum size of a map in bytes, where the size is limited. */
export const maxMetadataSize = 8192

/** Number of bytes of a map. */
export function sizeOfEntries(entries: readonly MetadataEntry[]): number {
  let size = 1
  for (const entry of entries) size += sizeOfEntry(entry)
  return size
}

/** Number of bytes of an entry: two length prefixes, the key and the value. */
export function sizeOfEntry({ key, value }: MetadataEntry): number {
  return 3 + key.length + (value.length - 2) / 2
}

function brokenForSdk(entries: readonly MetadataEntry[]): RefusalCode | undefined {
  if (entries.some(({ key }) => key === '')) return 'FEATURE_METADATA_KEY_LENGTH'
  const isSorted = entries.every(
    ({ key }, i) => i === 0 || bySdk(entries[i - 1]?.key ?? '', key) < 0,
  )
  if (!isSorted) return 'FEATURE_METADATA_ORDER'
  return sizeOfEntries(entries) > maxMetadataSize ? 'FEATURE_METADATA_SIZE' : undefined
}

function parseEntry(key: string, value: unknown): MetadataEntry {
  const broken = brokenKey(key)
  if (broken !== undefined) throw new Malformed(broken)
  if (typeof value !== 'string' || !isHex(value)) {
    throw new Malformed('JSON_HEX', undefined, key)
  }
  if (value.length > 2 + 2 * 65_535)
    throw new Malformed('FEATURE_METADATA_VALUE_LENGTH', undefined, key)
  return { key, value: value.toLowerCase() as Hex }
}

function brokenKey(key: string): RefusalCode | undefined {
  if (!/^[\x21-\x7e]*$/.test(key)) return 'FEATURE_METADATA_KEY_CHARS'
  return key.length > 255 ? 'FEATURE_METADATA_KEY_LENGTH' : undefined
}
