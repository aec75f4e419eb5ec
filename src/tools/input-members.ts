import { list } from '../protocol/schema/declare.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { bytes } from '../protocol/schema/scalars.ts'
import type { Schema } from '../protocol/schema/schema.ts'

/** Members of inputs that only the tools read. */

/** Bytes of any length. */
export const anyBytes = bytes('Bytes', { count: 'u32', max: 0xffff_ffff, length: 'LIST_COUNT' })

/** A list of any length. */
export function listOf<T>(of: Schema<T>) {
  return list('u32', of, { max: 0xffff_ffff, size: 'LIST_COUNT' })
}

/** A list that an input may omit while it is empty. */
export function omittedList<T>(of: Schema<T>, max = 0xffff_ffff) {
  return list('u32', of, { max, size: 'LIST_COUNT', omitEmpty: true })
}

/** The refusal of a value, with the path of the member that contains it. */
export function below(refusal: Refusal, member: string): Refusal {
  return { ...refusal, path: refusal.path === '' ? member : `${member}.${refusal.path}` }
}
