import { readFileSync } from 'node:fs'
import { buildSchema, getNamedType, isObjectType, isScalarType, parse, visit } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema as gatewaySchema } from '../../src/api/graphql/schema.ts'
import { looksLikeId, readPasted, variablesOf } from '../../src/explorer/parts/tools/pasted.ts'
import { areWellFormed, isWellFormed } from '../../src/explorer/scalars.ts'
import { toolTexts } from '../../src/explorer/texts-tools.ts'
import { sentences as reasonSentences } from '../../src/generated/explorer/health-sentences.ts'
import { assert } from '../../src/lib/assert.ts'
import { healthReasons } from '../../src/node/health-reasons.ts'
import { textOf } from '../support/explorer-pages.ts'

/** Computations of the tool pages without a browser. */

describe('pasted text is recognized:', () => {
  const bech32 = 'tst1qz2dcnfjg5ykl3hmc'
  const rows = [
    ['white space', ' \n', { is: 'NOTHING' }],
    ['JSON', ' {"type": 0}', { is: 'VALUE', input: { json: { type: 0 } } }],
    ['bytes', '0xAB01', { is: 'VALUE', input: { bytes: '0xab01' } }],
    ['bytes in lines without 0x', 'ab 01\n02', { is: 'VALUE', input: { bytes: '0xab0102' } }],
    ['an address', bech32, { is: 'VALUE', input: { bech32 } }],
    ['half a byte', '0xab0', { is: 'PROBLEM', sentence: toolTexts.paste.oddDigits }],
    [
      'invalid JSON',
      '{"type": }',
      { is: 'PROBLEM', sentence: expect.stringMatching(/^This is not valid JSON: /) },
    ],
    ['anything else', 'hello there', { is: 'PROBLEM', sentence: toolTexts.paste.unknown }],
  ] as const
  test.each(rows)('%s', (_name, text, expected) => {
    expect(readPasted(text)).toEqual(expected)
    const { isGiven, input } = variablesOf({ fragment: text })
    expect(isGiven).toBe(expected.is === 'VALUE')
    expect(input).toEqual('input' in expected ? expected.input : { bytes: '0x' })
  })

  test('an id, which is not a value', () => {
    expect([64, 72, 76, 66].map((digits) => looksLikeId(`0x${'a'.repeat(digits)}`))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })
})

describe('a variable is well-formed if the gateway accepts it:', () => {
  const id = (bytes: number) => `0x${'a1'.repeat(bytes)}`
  const values = [
    id(31),
    id(32),
    id(33),
    id(36),
    id(38),
    id(32).toUpperCase(),
    `0x${'A1'.repeat(36)}`,
    '0x',
    'abc',
    '',
  ]
  const numbers = [0, 4_294_967_295, 4_294_967_296, -1, 0.5, Number.NaN, '7']
  const rows = [
    ...['AccountId', 'AnchorId', 'DelegationId', 'NftId', 'BlockId'].map((type) => [type, values]),
    ...['TransactionId', 'FoundryId', 'OutputId'].map((type) => [type, values]),
    ['UInt32', numbers],
  ] as [string, unknown[]][]
  test.each(rows)('%s', (type, all) => {
    const scalar = gatewaySchema.getType(type)
    assert(isScalarType(scalar), type)
    const isAccepted = (value: unknown): boolean => {
      try {
        scalar.parseValue(value)
        return true
      } catch {
        return false
      }
    }
    expect(all.filter((value) => isWellFormed(type, value))).toEqual(all.filter(isAccepted))
  })

  test('each by its type in the document, and strings always', () => {
    const document = 'query Page($id: BlockId!, $after: String, $to: UInt32) { x }'
    expect(areWellFormed(document, { id: id(36), after: 'abc', to: undefined })).toBe(true)
    expect(areWellFormed(document, { id: id(35) })).toBe(false)
    expect(areWellFormed(document, { id: id(36), to: -1 })).toBe(false)
  })
})

test('the network page has every protocol parameter', () => {
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
  const names: string[] = []
  const collect = (type: unknown): void => {
    if (!isObjectType(type)) return
    for (const { name, type: of } of Object.values(type.getFields())) {
      if (name !== 'type') names.push(name)
      collect(getNamedType(of))
    }
  }
  collect(schema.getType('ProtocolParameters'))
  expect(names.length).toBeGreaterThan(50)
  const selected = new Set<string>()
  visit(parse(textOf('network')), { Field: ({ name }) => void selected.add(name.value) })
  expect(names.filter((name) => !selected.has(name))).toEqual([])
})

test('the health page has a sentence for each reason', () => {
  expect(reasonSentences).toEqual(healthReasons)
})
