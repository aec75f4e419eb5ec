import { assert } from '../../lib/assert.ts'
import type { Fields } from './composites.ts'
import type { Reader } from './reader.ts'
import { Malformed, within } from './refusal.ts'
import type { Schema } from './schema.ts'
import type { Writer } from './writer.ts'

/** Reads, writes, measures and parses the members of one object type, in the order of their bytes. */
export interface Members {
  /** Reads the members to a new object, with `type` if the object type has a code. */
  read(r: Reader): object
  write(w: Writer, value: object): void
  /** Number of bytes of the members. */
  size(value: object): number
  /** Parses the members of a JSON object to a new object. */
  parse(given: object): object
}

type Values = Record<string, unknown>

/**
 * Creates the functions for the members of one type. A new object is a copy of a template that already has all members, so it
 * has its final shape from the start and takes no more memory than a literal (docs/decisions/005).
 */
export function membersOfType(code: number | undefined, fields: Fields): Members {
  const keys = Object.keys(fields)
  // Member names must not be names that every object inherits.
  for (const key of keys) assert(/^[a-z][A-Za-z0-9]*$/.test(key) && !(key in {}), key)
  const schemas: readonly Schema<any>[] = Object.values(fields)
  // Functions are looked up once: the schemas differ in shape, so a lookup for each value would be slow.
  const reads = schemas.map(({ read }) => read)
  const writes = schemas.map(({ write }) => write)
  const sizes = schemas.map(({ size }) => size)
  const parses = schemas.map(({ parse }) => parse)
  const mayBeAbsent = schemas.map((schema) => schema.mayBeAbsent === true)
  const template = templateOf(code, keys)
  return {
    read: (r) => {
      const value: Values = { ...template }
      let i = 0
      try {
        for (; i < keys.length; i++) value[at(keys, i)] = at(reads, i)(r)
        return value
      } catch (thrown) {
        throw within(thrown, at(keys, i))
      }
    },
    write: (w, value: Values) => {
      for (let i = 0; i < keys.length; i++) at(writes, i)(w, value[at(keys, i)])
    },
    size: (value: Values) => {
      let size = 0
      for (let i = 0; i < keys.length; i++) size += at(sizes, i)(value[at(keys, i)])
      return size
    },
    parse: (given: Values) => {
      const value: Values = { ...template }
      let i = 0
      try {
        for (; i < keys.length; i++) {
          const part = given[at(keys, i)]
          if (part === undefined && !at(mayBeAbsent, i)) throw new Malformed('JSON_MISSING')
          value[at(keys, i)] = at(parses, i)(part)
        }
        return value
      } catch (thrown) {
        throw within(thrown, at(keys, i))
      }
    },
  }
}

/**
 * An object with all members. `JSON.parse` creates it, because it counts the members first: an object that is built in any
 * other way without a literal reserves room for more members, and so do its copies.
 */
function templateOf(code: number | undefined, keys: readonly string[]): Values {
  const members = keys.map((key) => [key, null])
  const type = code === undefined ? [] : [['type', code]]
  return JSON.parse(JSON.stringify(Object.fromEntries([...type, ...members])))
}

/** An element of a list whose length the caller has checked. */
function at<T>(list: readonly T[], index: number): T {
  return list[index] as T
}
