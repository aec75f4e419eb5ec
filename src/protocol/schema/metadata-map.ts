import type { Hex } from '../../lib/hex.ts'
import { Malformed, type RefusalCode } from './refusal.ts'
import type { Json, Schema } from './schema.ts'

/** The map of a metadata feature, and what bounds it (codec reference 8.1). */

/** One entry: printable ASCII to bytes. */
export interface MetadataEntry {
  readonly key: string
  readonly value: Hex
}

/** A map, held as a list sorted by key: a plain object would reorder keys such as `10`. */
export interface MapSchema extends Schema<readonly MetadataEntry[]> {
  readonly kind: 'map'
}

/** 1 to 255 entries, keys of 1 to 255 bytes, values of up to 65535, in all at most 8192 bytes. */
export function metadataMap(): MapSchema {
  return {
    kind: 'map',
    read: (r) => {
      const start = r.at
      const count = r.u8()
      if (count === 0) throw new Malformed('FEATURE_METADATA_COUNT', start)
      const entries: MetadataEntry[] = []
      for (let i = 0; i < count; i++) {
        const at = r.at
        const size = r.u8()
        if (size === 0) throw new Malformed('FEATURE_METADATA_KEY_LENGTH', at)
        const from = r.take(size)
        const key = r.buf.toString('latin1', from, from + size)
        const broken = brokenKey(key, entries[i - 1]?.key)
        if (broken !== undefined) throw new Malformed(broken, at)
        const value = r.hex(r.u16())
        if (r.at - start > maxSize) throw new Malformed('FEATURE_METADATA_SIZE', start)
        entries.push({ key, value })
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
      if (typeof json !== 'object' || json === null || Array.isArray(json))
        throw new Malformed('JSON_TYPE')
      const entries = Object.entries(json).map(([key, value]) => parseEntry(key, value))
      if (entries.length === 0 || entries.length > 255)
        throw new Malformed('FEATURE_METADATA_COUNT')
      entries.sort((a, b) => (a.key < b.key ? -1 : 1))
      if (sizeOfEntries(entries) > maxSize) throw new Malformed('FEATURE_METADATA_SIZE')
      return entries
    },
    print: (entries): Json => Object.fromEntries(entries.map(({ key, value }) => [key, value])),
  }
}

const maxSize = 8192

function sizeOfEntries(entries: readonly MetadataEntry[]): number {
  let size = 1
  for (const { key, value } of entries) size += 3 + key.length + (value.length - 2) / 2
  return size
}

function parseEntry(key: string, value: unknown): MetadataEntry {
  const broken = brokenKey(key, undefined)
  if (broken !== undefined) throw new Malformed(broken)
  if (typeof value !== 'string' || value.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(value)) {
    throw new Malformed('JSON_HEX', undefined, key)
  }
  if (value.length > 2 + 2 * 65_535)
    throw new Malformed('FEATURE_METADATA_VALUE_LENGTH', undefined, key)
  return { key, value: value.toLowerCase() as Hex }
}

function brokenKey(key: string, former: string | undefined): RefusalCode | undefined {
  if (!/^[\x21-\x7e]*$/.test(key)) return 'FEATURE_METADATA_KEY_CHARS'
  if (key.length === 0 || key.length > 255) return 'FEATURE_METADATA_KEY_LENGTH'
  if (former !== undefined && former >= key) return 'FEATURE_METADATA_ORDER'
  return undefined
}
