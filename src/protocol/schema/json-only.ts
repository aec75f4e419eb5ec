import { assert } from '../../lib/assert.ts'
import { Malformed, within } from './refusal.ts'
import type { Schema } from './schema.ts'

/** Schemas of what only JSON holds: questions to the program, never parts of a block. They have no bytes. */

/** Any JSON, for whoever reads it later. */
export const anyJson: Schema<unknown> = jsonOnly('text', (json) => json)

/** `true` or `false`. */
export const flag: Schema<boolean> = jsonOnly('uint', (json) => {
  if (typeof json !== 'boolean') throw new Malformed('JSON_TYPE')
  return json
})

/** A signed integer of 64 bits, as a decimal string. */
export const int64: Schema<bigint> = jsonOnly('uint', (json) => {
  if (typeof json !== 'string' || !/^-?[0-9]{1,19}$/.test(json)) throw new Malformed('JSON_I64')
  const value = BigInt(json)
  if (BigInt.asIntN(64, value) !== value) throw new Malformed('JSON_I64')
  return value
})

/** One of some words. */
export function word<const W extends string>(...words: readonly W[]): Schema<W> {
  return jsonOnly('text', (json) => {
    const known = words.find((one) => one === json)
    if (known === undefined) throw new Malformed('JSON_TYPE')
    return known
  })
}

/** An object used as a map: its member names are values too. */
export function record<K extends string, V>(
  keys: Schema<K>,
  values: Schema<V>,
): Schema<ReadonlyMap<K, V>> {
  return jsonOnly('map', (json) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new Malformed('JSON_TYPE')
    }
    return new Map(Object.entries(json).map(([key, value]) => entry(keys, values, key, value)))
  })
}

/** The same, or the value that stands for it where it is left out or `null`. */
export function orElse<T>(schema: Schema<T>, absent: T): Schema<T> {
  return {
    ...schema,
    mayBeAbsent: true,
    parse: (json) => (json === undefined || json === null ? absent : schema.parse(json)),
  }
}

function entry<K, V>(keys: Schema<K>, values: Schema<V>, key: string, value: unknown): [K, V] {
  try {
    return [keys.parse(key), values.parse(value)]
  } catch (thrown) {
    throw within(thrown, key)
  }
}

function jsonOnly<T>(kind: Schema<T>['kind'], parse: (json: unknown) => T): Schema<T> {
  return { kind, parse, read: hasNoBytes, write: hasNoBytes, size: hasNoBytes, print: hasNoBytes }
}

function hasNoBytes(): never {
  assert(false, 'a schema of JSON alone has neither bytes nor a printed form')
}
