import { GraphQLError, type ValueNode, valueFromASTUntyped } from 'graphql'
import { assert } from '../../lib/assert.ts'
import { type Hex, isHex } from '../../lib/hex.ts'
import { builder } from './builder.ts'
import { ids } from './scalar-types.ts'

/** The scalars of the schema. Written in one form; read by the rules of codec reference 1.1. */

const max32 = 2 ** 32 - 1
const max64 = 2n ** 64n - 1n
const max256 = 2n ** 256n - 1n

/** Of scalars whose text needs no escape in JSON; of those that are always text; and of those whose values are that text. */
const digits = { extensions: { isDigits: true } } as const
const digitsAsText = { extensions: { isDigits: true, isText: true } } as const
const digitsAsTheyAre = { extensions: { isDigits: true, isText: true, isAsItIs: true } } as const

builder.scalarType('UInt32', {
  ...digits,
  description: 'A whole number from 0 to 4294967295: slots, epochs, indices and counters.',
  serialize: (value) => {
    if (!isIntegerUpTo(value, max32)) failOutOfRange('UInt32', value)
    return value
  },
  ...readBy((value) => {
    if (!isIntegerUpTo(value, max32)) throw refused('a whole number from 0 to 4294967295')
    return value
  }),
})

builder.scalarType('UInt64', {
  ...digitsAsText,
  description:
    'A whole number from 0 to 18446744073709551615, as decimal text: amounts, mana and nanoseconds. Small ones are also read as numbers.',
  serialize: (value) => {
    const isIn = typeof value === 'bigint' ? value >= 0n && value <= max64 : isIntegerUpTo(value)
    if (!isIn) failOutOfRange('UInt64', value)
    return value.toString()
  },
  ...readBy((value) => {
    const number = parseUInt64(value)
    if (number === undefined) throw refused('decimal text from "0" to "18446744073709551615"')
    return number
  }),
})

builder.scalarType('UInt256', {
  ...digitsAsText,
  description:
    'A whole number from 0 to 2^256 - 1, as hexadecimal text in its shortest form: amounts of native tokens.',
  serialize: (value) => {
    assert(value >= 0n && value <= max256, 'UInt256 out of range')
    return `0x${value.toString(16)}`
  },
  ...readBy((value) => {
    if (typeof value !== 'string' || !/^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/.test(value)) {
      throw refused('0x and 1 to 64 hexadecimal digits without a leading zero')
    }
    return BigInt(value)
  }),
})

builder.scalarType('Int64', {
  ...digitsAsText,
  description:
    'A whole number from -9223372036854775808 to 9223372036854775807, as decimal text: credits, which may be a debt.',
  serialize: (value) => {
    if (BigInt.asIntN(64, value) !== value) failOutOfRange('Int64', value)
    return value.toString()
  },
  ...readBy((value) => {
    const number = parseInt64(value)
    if (number === undefined) throw refused('decimal text of a whole number of 64 bits')
    return number
  }),
})

builder.scalarType('Hex', {
  ...digitsAsTheyAre,
  description: 'Bytes: 0x and two hexadecimal digits a byte, written in lower case.',
  serialize: (value) => value,
  ...readBy(parseHex),
})

builder.scalarType('DateTime', {
  ...digits,
  description:
    'A time in UTC as ISO 8601, such as 2026-11-22T07:27:00.000Z; written with milliseconds, read with any offset.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => new Date(value).toISOString(),
  ...readBy((value) => {
    const isTime =
      typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value)
    const time = isTime ? Date.parse(value) : Number.NaN
    if (Number.isNaN(time)) throw refused('a time as ISO 8601, such as "2026-11-22T07:27:00Z"')
    return time
  }),
})

builder.scalarType('JSON', {
  description: 'Any JSON value, as it is.',
  serialize: (value) => value,
  parseValue: (value) => value,
})

const idSentences: { readonly [K in keyof typeof ids]: string } = {
  BlockId: 'A block: 32 bytes of hash, then its slot.',
  TransactionId: 'A transaction: 32 bytes of hash, then its creation slot.',
  CommitmentId: 'A slot commitment: 32 bytes of hash, then its slot.',
  OutputId: 'An output: its transaction id, then its index.',
  AccountId: 'An account: the hash of the output id that created it.',
  AnchorId: 'An anchor: the hash of the output id that created it.',
  NftId: 'An NFT: the hash of the output id that created it.',
  DelegationId: 'A delegation: the hash of the output id that created it.',
  FoundryId: 'A foundry, and its native token: account address, serial number, scheme.',
}

for (const name of Object.keys(ids) as (keyof typeof ids)[]) {
  const { max: length } = ids[name]
  builder.scalarType(name, {
    ...digitsAsTheyAre,
    description: `${idSentences[name]} ${length} bytes as 0x and lower-case hexadecimal digits.`,
    serialize: (value: Hex) => value,
    ...readBy((value) => parseId(value, length)),
  })
}

/** Reads a value from variables and from the document; what is refused there is refused with its place. */
function readBy<T>(parseValue: (value: unknown) => T) {
  type Variables = Parameters<typeof valueFromASTUntyped>[1]
  const parseLiteral = (node: ValueNode, variables?: Variables): T => {
    try {
      return parseValue(valueFromASTUntyped(node, variables))
    } catch (thrown) {
      if (!(thrown instanceof GraphQLError)) throw thrown
      const { message, extensions } = thrown
      throw new GraphQLError(message, { nodes: node, extensions })
    }
  }
  return { parseValue, parseLiteral }
}

/** The length is checked here; that the bytes name something is the asker's affair. */
function parseId<I extends Hex>(value: unknown, length: number): I {
  const hex = parseHex(value)
  if (hex.length !== 2 + 2 * length) throw refused(`0x and ${2 * length} hexadecimal digits`)
  return hex as I
}

function parseHex(value: unknown): Hex {
  if (typeof value !== 'string' || !isHex(value)) {
    throw refused('0x and an even number of hexadecimal digits')
  }
  return value.toLowerCase() as Hex
}

/** Numbers only as far as JSON keeps them exact. */
function parseUInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  }
  if (typeof value !== 'string' || !/^[0-9]{1,20}$/.test(value)) return undefined
  const number = BigInt(value)
  return number <= max64 ? number : undefined
}

function parseInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^-?[0-9]{1,19}$/.test(value)) return undefined
  const number = BigInt(value)
  return BigInt.asIntN(64, number) === number ? number : undefined
}

/** The message is made only here: as an argument it would cost more than all else. */
function failOutOfRange(type: string, value: unknown): never {
  assert(false, `${type} out of range: ${value}`)
}

function isIntegerUpTo(value: unknown, max = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
}

function refused(expected: string): GraphQLError {
  return new GraphQLError(`expected ${expected}`, { extensions: { code: 'BAD_USER_INPUT' } })
}
