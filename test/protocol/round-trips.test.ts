import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { headOfOutput, Output } from '../../src/protocol/outputs.ts'
import { decode, encode, parse, print } from '../../src/protocol/schema/schema.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { rootTypes } from '../support/root-types.ts'
import { runs } from '../support/runs.ts'

describe.each(Object.entries(rootTypes))('%s', (_name, schema) => {
  test('has a round trip through bytes', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        expect(decode(schema, encode(schema, value))).toEqual({ ok: true, value })
      }),
      runs(100),
    )
  })

  test('has a round trip through JSON text', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const json: unknown = JSON.parse(JSON.stringify(print(schema, value)))
        expect(parse(schema, json)).toEqual({ ok: true, value })
      }),
      runs(100),
    )
  })
})

test.each(Output.variants.map((kind) => [kind.name, kind] as const))(
  'the head of a %s is read without the rest',
  (_name, kind) => {
    fc.assert(
      fc.property(arbitraryOf(kind), (output) => {
        // Other bytes come before it, as in rows of a database.
        const bytes = Uint8Array.of(9, 9, ...encode(kind, output)).subarray(2)
        const { type, amount } = output
        expect(headOfOutput(bytes)).toEqual({ type, amount })
      }),
      runs(100),
    )
  },
)
