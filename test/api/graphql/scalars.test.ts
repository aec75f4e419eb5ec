import { type GraphQLScalarType, isScalarType, Kind } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/api/graphql/schema.ts'

const id36 = `0x${'aB'.repeat(36)}`

describe('a scalar parses and serializes', () => {
  const rows = [
    ['UInt32', 0, 0, 0],
    ['UInt32', 4294967295, 4294967295, 4294967295],
    ['UInt64', '0', 0n, '0'],
    ['UInt64', '18446744073709551615', 2n ** 64n - 1n, '18446744073709551615'],
    ['UInt64', '007', 7n, '7'],
    ['UInt64', 9007199254740991, 9007199254740991n, '9007199254740991'],
    ['UInt256', '0x0', 0n, '0x0'],
    ['UInt256', '0xA', 10n, '0xa'],
    ['UInt256', `0x${'f'.repeat(64)}`, 2n ** 256n - 1n, `0x${'f'.repeat(64)}`],
    ['Hex', '0x', '0x', '0x'],
    ['Hex', '0xABcd', '0xabcd', '0xabcd'],
    ['BlockId', id36, id36.toLowerCase(), id36.toLowerCase()],
    ['OutputId', `0x${'00'.repeat(38)}`, `0x${'00'.repeat(38)}`, `0x${'00'.repeat(38)}`],
    ['AccountId', `0x${'00'.repeat(32)}`, `0x${'00'.repeat(32)}`, `0x${'00'.repeat(32)}`],
  ] as const
  test.each(rows)('%s %s', (name, input, inMemory, written) => {
    const scalar = scalarNamed(name)
    expect(scalar.parseValue(input)).toBe(inMemory)
    expect(scalar.serialize(inMemory)).toBe(written)
  })

  test('a number in a document as well', () => {
    const literal = { kind: Kind.INT, value: '4294967295' } as const
    expect(scalarNamed('UInt32').parseLiteral(literal)).toBe(4294967295)
    expect(scalarNamed('UInt64').parseLiteral(literal)).toBe(4294967295n)
  })
})

describe('a scalar refuses', () => {
  const rows = [
    ['UInt32', -1],
    ['UInt32', 4294967296],
    ['UInt32', 1.5],
    ['UInt32', '1'],
    ['UInt64', '-1'],
    ['UInt64', '18446744073709551616'],
    ['UInt64', '1.0'],
    ['UInt64', ''],
    ['UInt64', ' 1'],
    ['UInt64', 9007199254740992],
    ['UInt64', true],
    ['UInt256', '10'],
    ['UInt256', '0x'],
    ['UInt256', '0x01'],
    ['UInt256', `0x1${'0'.repeat(64)}`],
    ['Hex', 'ab'],
    ['Hex', '0xabc'],
    ['Hex', '0Xab'],
    ['Hex', '0xgg'],
    ['Hex', 1],
    ['BlockId', `0x${'00'.repeat(35)}`],
    ['BlockId', `0x${'00'.repeat(37)}`],
    ['AccountId', '0x'],
  ] as const
  test.each(rows)('%s %s', (name, input) => {
    expect(codeOf(() => scalarNamed(name).parseValue(input))).toBe('BAD_USER_INPUT')
  })

  test.each(['x', '0x1', '0x11', 1])('an id %s, and says how many digits it must have', (input) => {
    expect(() => scalarNamed('BlockId').parseValue(input)).toThrow(
      'expected 0x and 72 hexadecimal digits',
    )
  })

  test('a number in a document that JSON cannot represent exactly', () => {
    const literal = { kind: Kind.INT, value: '18446744073709551615' } as const
    expect(codeOf(() => scalarNamed('UInt64').parseLiteral(literal))).toBe('BAD_USER_INPUT')
  })
})

function scalarNamed(name: string): GraphQLScalarType {
  const type = schema.getType(name)
  if (!isScalarType(type)) throw new Error(`no scalar ${name}`)
  return type
}

function codeOf(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (thrown) {
    return (thrown as { extensions?: { code?: unknown } }).extensions?.code
  }
}
