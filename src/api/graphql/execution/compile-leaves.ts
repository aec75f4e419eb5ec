import {
  type GraphQLField,
  type GraphQLLeafType,
  isEnumType,
  isLeafType,
  isNonNullType,
} from 'graphql'
import type { GatewayContext } from '../builder.ts'
import { isAsItIs, isDigits, isDigitsText, isPlainText, isPromise } from './meter.ts'

/** Writers of leaf values for compiled queries. */

/** Writes a value as JSON text. */
export type WriteLeaf = (value: unknown, run: LeafRun) => string

/** The part of an execution that leaf values need. */
export interface LeafRun {
  readonly context: Pick<GatewayContext, 'budget'>
}

/** Returns a writer of text without quotes, for a non-null field whose text needs no escape in JSON; `undefined` for other fields. */
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
  throw new TypeError(`${type.name}: no text in a field whose values are text`)
}

/** Returns a writer of the values of a type, with quotes. */
export function leafWriter(type: GraphQLLeafType): WriteLeaf {
  const isPlain = isEnumType(type) || isDigits(type)
  // Caches the last text: the addresses of a list are often equal.
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
    if (isPromise(serialized)) throw new TypeError(`${type.name}: a promise instead of a value`)
    if (typeof serialized === 'number' || typeof serialized === 'boolean') return `${serialized}`
    if (serialized == null) throw new TypeError(`${type.name}: no value`)
    const text = JSON.stringify(serialized)
    run.context.budget.spend(Buffer.byteLength(text) - text.length, 0)
    return text
  }
}

/** Writes text with escapes, and counts its additional bytes. The object counts one byte for each character. */
function writeEscaped(text: string, { context }: LeafRun): string {
  const written = JSON.stringify(text)
  context.budget.spend(Buffer.byteLength(written) - written.length, 0)
  return written
}
