import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hexToBytes } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { type Refusal, refusalMessage } from '../../src/protocol/schema/refusal.ts'
import { decode, encode, parse, print, type Schema } from '../../src/protocol/schema/schema.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { byteDamage, jsonDamage } from '../support/damage.ts'
import { rootTypes } from '../support/root-types.ts'
import { runs } from '../support/runs.ts'
import { type FormVector, schemaByKind } from '../support/vector-forms.ts'
import { loadVectors } from '../support/vectors.ts'

/** Whatever comes in, reading gives a value or a refusal, and an accepted value has one encoding. */

describe.each(Object.entries(rootTypes))('%s', (_name, schema) => {
  test('any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => isSound(schema, bytes)),
      runs(300),
    )
  })

  test('damaged bytes', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), byteDamage, (value, damage) =>
        isSound(schema, damage(encode(schema, value))),
      ),
      runs(300),
    )
  })

  test('any JSON', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withObjectString: true }), (json) =>
        isSoundJson(schema, json),
      ),
      runs(300),
    )
  })

  test('damaged JSON', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), jsonDamage, (value, damage) =>
        isSoundJson(schema, damage(print(schema, value))),
      ),
      runs(300),
    )
  })
})

describe('the vectors, damaged', () => {
  const files = ['addresses', 'outputs', 'blocks', 'transactions', 'rules', 'mutations', 'lifted']
  const vectors = files
    .flatMap((file) => loadVectors<FormVector>(file))
    .flatMap(({ kind, bytes }) => {
      const schema = schemaByKind[kind]
      return bytes === undefined || schema === undefined
        ? []
        : [{ schema, bytes: hexToBytes(bytes) }]
    })

  test('as bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...vectors), byteDamage, ({ schema, bytes }, damage) =>
        isSound(schema, damage(bytes)),
      ),
      runs(5_000),
    )
  })

  test('as JSON', () => {
    const forms = loadVectors<FormVector>('json-forms').map(({ json }) => json)
    fc.assert(
      fc.property(fc.constantFrom(...forms), jsonDamage, (json, damage) =>
        isSoundJson(Block, damage(json)),
      ),
      runs(2_000),
    )
  })
})

function isSound(schema: Schema<unknown>, bytes: Uint8Array): void {
  const value = decode(schema, bytes)
  if (value.ok) expect(Buffer.compare(encode(schema, value.value), bytes)).toBe(0)
  else {
    isNamed(value.error)
    expect(value.error.offset).toBeGreaterThanOrEqual(0)
    expect(value.error.offset).toBeLessThanOrEqual(bytes.length)
  }
}

function isSoundJson(schema: Schema<unknown>, json: unknown): void {
  const value = parse(schema, json)
  if (value.ok) expect(decode(schema, encode(schema, value.value))).toEqual(value)
  else isNamed(value.error)
}

function isNamed(refusal: Refusal): void {
  expect(refusalMessage(refusal, 'it')).not.toContain('undefined')
}
