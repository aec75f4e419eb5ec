import {
  type GraphQLField,
  type GraphQLLeafType,
  isEnumType,
  isLeafType,
  isNonNullType,
} from 'graphql'
import type { GatewayContext } from './builder.ts'
import { isAsItIs, isDigits, isDigitsText, isPlainText, isPromise } from './meter.ts'

/** How compiled queries write single values. */

/** Writes a value as JSON text. */
export type WriteLeaf = (value: unknown, run: LeafRun) => string

/** One execution, as far as single values need it. */
export interface LeafRun {
  readonly context: Pick<GatewayContext, 'budget'>
}

/** Writes the text of a field without its quotes, where that is never null and JSON writes each character of it as it is. */
export function quotedWriter({
  type,
  extensions,
}: GraphQLField<unknown, unknown>): WriteLeaf | undefined {
  if (!isNonNullType(type) || !isLeafType(type.ofType)) return undefined
  const leaf = type.ofType
  if (isAsItIs(leaf) || extensions.isPlain === true) {
    return (value) => (typeof value === 'string' ? value : textOf(leaf, value))
  }
  return isEnumType(leaf) || isDigitsText(leaf) ? (value) => textOf(leaf, value) : undefined
}

function textOf(type: GraphQLLeafType, value: unknown): string {
  const serialized = value == null ? undefined : type.serialize(value)
  if (typeof serialized === 'string') return serialized
  throw new TypeError(`${type.name}: no text in a field that always has one`)
}

/** Writes values of a type with their quotes. */
export function leafWriter(type: GraphQLLeafType): WriteLeaf {
  const isPlain = isEnumType(type) || isDigits(type)
  // Addresses: those of a list are mostly the same one.
  let last = { text: '', written: '""' }
  return (value, run) => {
    const serialized = type.serialize(value)
    if (typeof serialized === 'string') {
      if (isPlain) return `"${serialized}"`
      if (serialized === last.text) return last.written
      if (!isPlainText(serialized)) return writeEscaped(serialized, run)
      last = { text: serialized, written: `"${serialized}"` }
      return last.written
    }
    if (isPromise(serialized)) throw new TypeError(`${type.name}: a promise in place of a value`)
    if (typeof serialized === 'number' || typeof serialized === 'boolean') return `${serialized}`
    if (serialized == null) throw new TypeError(`${type.name}: no value`)
    const text = JSON.stringify(serialized)
    run.context.budget.spend(Buffer.byteLength(text) - text.length, 0)
    return text
  }
}

/** The object counts a byte for each character. */
function writeEscaped(text: string, { context }: LeafRun): string {
  const written = JSON.stringify(text)
  context.budget.spend(Buffer.byteLength(written) - written.length, 0)
  return written
}
