import { GraphQLError, type ValueNode, valueFromASTUntyped } from 'graphql'
import { builder } from './builder.ts'

/** Moments as text. In memory they are Unix milliseconds. */

/** RFC 3339 with seconds, at most nine digits after them, and an offset. */
const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

builder.scalarType('DateTime', {
  description:
    'A moment in time by RFC 3339: written in UTC, like 2026-11-22T08:30:00Z or with three digits of a second; read with any offset, to the millisecond.',
  extensions: { isDigits: true },
  serialize: (ms) => dateTimeText(ms),
  parseValue: parsed,
  parseLiteral: (node: ValueNode) => parsed(valueFromASTUntyped(node)),
})

/** Without digits of a second where they are zeros. */
export function dateTimeText(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('.000Z', 'Z')
}

function parsed(value: unknown): number {
  const ms = typeof value === 'string' && form.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) {
    throw new GraphQLError('expected a date and time like 2026-11-22T08:30:00Z', {
      extensions: { code: 'BAD_USER_INPUT' },
    })
  }
  return ms
}
