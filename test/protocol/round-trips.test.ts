import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode, parse, print } from '../../src/protocol/schema/schema.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { rootTypes } from '../support/root-types.ts'
import { runs } from '../support/runs.ts'

describe.each(Object.entries(rootTypes))('%s', (_name, schema) => {
  test('bytes give the value back', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        expect(decode(schema, encode(schema, value))).toEqual({ ok: true, value })
      }),
      runs(100),
    )
  })

  test('JSON text gives the value back', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const json: unknown = JSON.parse(JSON.stringify(print(schema, value)))
        expect(parse(schema, json)).toEqual({ ok: true, value })
      }),
      runs(100),
    )
  })
})
