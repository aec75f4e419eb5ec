import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { refusalMessage } from '../../src/protocol/refusal-message.ts'
import type { Refusal } from '../../src/protocol/schema/refusal.ts'
import { decode, encode, parse, print, type Schema } from '../../src/protocol/schema/schema.ts'
import { blockProblems, withOffsets } from '../../src/protocol/syntax.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { byteDamage, jsonDamage } from '../support/damage.ts'
import { rootTypes } from '../support/root-types.ts'
import { runs } from '../support/runs.ts'
import { type FormVector, schemaByKind } from '../support/vector-forms.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

/** Tests that reading any input returns a value or a refusal, and that an accepted value has one encoding. */

describe.each(Object.entries(rootTypes))('%s', (_name, schema) => {
  test('is read from any bytes, or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        checkBytes(schema, bytes)
      }),
      runs(300),
    )
  })

  test('is read from damaged bytes, or refused', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), byteDamage, (value, damage) => {
        checkBytes(schema, damage(encode(schema, value)))
      }),
      runs(300),
    )
  })

  test('is read from any JSON, or refused', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withObjectString: true }), (json) =>
        checkJson(schema, json),
      ),
      runs(300),
    )
  })

  test('is read from damaged JSON, or refused', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), jsonDamage, (value, damage) =>
        checkJson(schema, damage(print(schema, value))),
      ),
      runs(300),
    )
  })
})

describe('vectors', () => {
  test('blocks, damaged as bytes', () => {
    const blocks = bytesOf('block', 'blocks', 'transactions', 'rules', 'mutations', 'lifted')
    const networks = [...vectorNetworks.values()]
    fc.assert(
      fc.property(
        fc.constantFrom(...blocks),
        fc.constantFrom(...networks),
        byteDamage,
        (block, network, damage) => {
          const bytes = damage(block)
          const value = checkBytes(Block, bytes)
          if (value === undefined) return
          const problems = blockProblems(value, { network, bytes, from: 'bytes' })
          for (const problem of withOffsets(problems, bytes)) checkOffset(problem, bytes)
        },
      ),
      runs(5_000),
    )
  })

  test.each(['output', 'address'])('of kind %s, damaged as bytes', (kind) => {
    const values = bytesOf(kind, 'outputs', 'addresses', 'lifted')
    const schema = present(schemaByKind[kind], kind)
    fc.assert(
      fc.property(fc.constantFrom(...values), byteDamage, (bytes, damage) => {
        checkBytes(schema, damage(bytes))
      }),
      runs(1_000),
    )
  })

  test('blocks, damaged as JSON', () => {
    const forms = loadVectors<FormVector>('json-forms').map(({ json }) => json)
    fc.assert(
      fc.property(fc.constantFrom(...forms), jsonDamage, (json, damage) => {
        checkJson(Block, damage(json))
      }),
      runs(2_000),
    )
  })
})

function bytesOf(kind: string, ...files: readonly string[]): readonly Uint8Array[] {
  const vectors = files.flatMap((file) => loadVectors<FormVector>(file))
  return vectors.flatMap((vector) =>
    vector.kind === kind && vector.bytes !== undefined ? [hexToBytes(vector.bytes)] : [],
  )
}

/** Returns the value if the bytes are accepted. */
function checkBytes<T>(schema: Schema<T>, bytes: Uint8Array): T | undefined {
  const value = decode(schema, bytes)
  if (value.ok) {
    expect(Buffer.compare(encode(schema, value.value), bytes)).toBe(0)
    return value.value
  }
  checkOffset(value.error, bytes)
  return undefined
}

function checkOffset(refusal: Refusal, bytes: Uint8Array): void {
  checkMessage(refusal)
  expect(refusal.offset).toBeGreaterThanOrEqual(0)
  expect(refusal.offset).toBeLessThanOrEqual(bytes.length)
}

function checkJson(schema: Schema<unknown>, json: unknown): void {
  const value = parse(schema, json)
  if (value.ok) expect(decode(schema, encode(schema, value.value))).toEqual(value)
  else checkMessage(value.error)
}

function checkMessage(refusal: Refusal): void {
  expect(refusalMessage(refusal, 'it')).not.toContain('undefined')
}

test.each([
  ['TYPE_FEATURE', '0 to 7'],
  ['TYPE_ADDRESS', '0, 8, 16, 24, 32, 40, 48'],
  ['TYPE_BLOCK_BODY', '0 BasicBlockBody, 1 ValidationBlockBody'],
  ['TYPE_PROOF_NODE', '0 HashableNode, 1 LeafHash, 2 ValueHash'],
] as const)('%s lists the types of its family', (code, kinds) => {
  const message = refusalMessage({ code, path: 'body.part', offset: 9 }, 'the block')
  expect(message).toBe(`body.part has an unknown type (${kinds}) (byte 9)`)
})
