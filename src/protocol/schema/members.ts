import { assert } from '../../lib/assert.ts'
import type { Fields } from './composites.ts'
import type { Reader } from './reader.ts'
import { Malformed, within } from './refusal.ts'
import type { Schema } from './schema.ts'
import type { Writer } from './writer.ts'

/** The members of one object type, one after the other in the order of their bytes. */
export interface Members {
  /** A new object of the members that come next, with `type` when the object has a code. */
  read(r: Reader): object
  write(w: Writer, value: object): void
  /** How many bytes the members take. */
  size(value: object): number
  /** A new object of the members of a JSON object. */
  parse(given: object): object
}

type Values = Record<string, unknown>

/**
 * Reads, writes, measures and parses the members of one type. A new object is a copy of a template that has all members
 * already: it has its final shape from the start, and takes no more memory than a literal (docs/decisions/005).
 */
export function membersOfType(code: number | undefined, fields: Fields): Members {
  const keys = Object.keys(fields)
  // No object has such a name that was not given it.
  for (const key of keys) assert(/^[a-z][A-Za-z0-9]*$/.test(key) && !(key in {}), key)
  const schemas: readonly Schema<any>[] = Object.values(fields)
  // Looked up once: the schemas of one type differ in shape, and a look-up in each would be slow.
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
 * An object with all members. It comes from `JSON.parse`, which counts the members before it makes the object: any other
 * object without a literal of its own keeps room for members to come, and so do its copies.
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
