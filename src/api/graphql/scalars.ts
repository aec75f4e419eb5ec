import { GraphQLError, type ValueNode, valueFromASTUntyped } from 'graphql'
import { assert } from '../../lib/assert.ts'
import { parseMoment } from '../../lib/calendar.ts'
import { type Hex, isHex } from '../../lib/hex.ts'
import { maxUint64 } from '../../protocol/primitives.ts'
import { builder } from './builder.ts'
import { ids } from './scalar-types.ts'

/** The scalars of the schema. They are written in one form, and read by the rules of codec reference 1.1. */

const max32 = 2 ** 32 - 1
const max256 = 2n ** 256n - 1n

/** Extensions of scalars: text that needs no escape in JSON; always text; values that are already their text. */
const digits = { extensions: { isDigits: true } } as const
const digitsAsText = { extensions: { isDigits: true, isText: true } } as const
const digitsUnchanged = { extensions: { isDigits: true, isText: true, isAsItIs: true } } as const

builder.scalarType('UInt32', {
  ...digits,
  description: 'An integer from 0 to 4294967295, for slots, epochs, indices and counters.',
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
    'An integer from 0 to 18446744073709551615 as decimal text, for amounts, mana and nanoseconds. Inputs up to 9007199254740991 may also be JSON numbers.',
  serialize: (value) => {
    const isIn =
      typeof value === 'bigint' ? value >= 0n && value <= maxUint64 : isIntegerUpTo(value)
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
    'An integer from 0 to 2^256 - 1 as hexadecimal text without leading zeros, for amounts of native tokens.',
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
    'An integer from -9223372036854775808 to 9223372036854775807 as decimal text, for credits. A negative credit is a debt.',
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
  ...digitsUnchanged,
  description: 'Bytes as 0x and two hexadecimal digits per byte. Outputs are in lower case.',
  serialize: (value) => value,
  ...readBy(parseHex),
})

builder.scalarType('DateTime', {
  ...digits,
  description:
    'A time in UTC in the format of ISO 8601, such as 2026-11-22T07:27:00.000Z. Outputs have milliseconds. Inputs may have any offset.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => new Date(value).toISOString(),
  ...readBy((value) => {
    // A day without a time is not accepted here, and `T` and `Z` are upper case.
    const isTime = typeof value === 'string' && /^[^T]+T[^a-z]+$/.test(value)
    const time = isTime ? parseMoment(value) : Number.NaN
    if (Number.isNaN(time)) throw refused('a time as ISO 8601, such as "2026-11-22T07:27:00Z"')
    return time
  }),
})

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
})

const idSentences: { readonly [K in keyof typeof ids]: string } = {
  BlockId: 'The id of a block: a hash of 32 bytes and the slot index.',
  TransactionId: 'The id of a transaction: a hash of 32 bytes and the index of the creation slot.',
  CommitmentId: 'The id of a slot commitment: a hash of 32 bytes and the slot index.',
  OutputId: 'The id of an output: the transaction id and the output index.',
  AccountId: 'The id of an account: the hash of the id of the output that created it.',
  AnchorId: 'The id of an anchor: the hash of the id of the output that created it.',
  NftId: 'The id of an NFT: the hash of the id of the output that created it.',
  DelegationId: 'The id of a delegation: the hash of the id of the output that created it.',
  FoundryId:
    'The id of a foundry and its native token: the account address, the serial number and the token scheme.',
}

for (const name of Object.keys(ids) as (keyof typeof ids)[]) {
  const { max: length } = ids[name]
  builder.scalarType(name, {
    ...digitsUnchanged,
    description: `${idSentences[name]} It has ${length} bytes, as 0x and lower-case hexadecimal digits.`,
    serialize: (value: Hex) => value,
    ...readBy((value) => parseId(value, length)),
  })
}

/** Reads a value from variables and from the document. Errors in the document have a location. */
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

/** Checks the length of an id, but not whether the object exists. */
function parseId<I extends Hex>(value: unknown, length: number): I {
  if (typeof value !== 'string' || value.length !== 2 + 2 * length || !isHex(value)) {
    throw refused(`0x and ${2 * length} hexadecimal digits`)
  }
  return value.toLowerCase() as I
}

function parseHex(value: unknown): Hex {
  if (typeof value !== 'string' || !isHex(value)) {
    throw refused('0x and an even number of hexadecimal digits')
  }
  return value.toLowerCase() as Hex
}

/** Parses decimal text, or a number that JSON represents exactly. */
function parseUInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  }
  if (typeof value !== 'string' || !/^[0-9]{1,20}$/.test(value)) return undefined
  const number = BigInt(value)
  return number <= maxUint64 ? number : undefined
}

function parseInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^-?[0-9]{1,19}$/.test(value)) return undefined
  const number = BigInt(value)
  return BigInt.asIntN(64, number) === number ? number : undefined
}

/** Formats the message only on failure: as an argument it would cost more than the rest of the check. */
function failOutOfRange(type: string, value: unknown): never {
  assert(false, `${type} out of range: ${value}`)
}

function isIntegerUpTo(value: unknown, max = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
}

function refused(expected: string): GraphQLError {
  return new GraphQLError(`expected ${expected}`, { extensions: { code: 'BAD_USER_INPUT' } })
}
