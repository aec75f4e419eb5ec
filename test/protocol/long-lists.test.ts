import { describe, expect, test } from 'vitest'
import { BlockIssuer, Metadata } from '../../src/protocol/features.ts'
import { parse, type Schema } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'

/** A body of a megabyte may have lists of hundreds of thousands of elements, which are refused before their elements are read. */

/** An element or a value that must not be read. */
const unread = new Proxy(
  {},
  {
    get: () => expect.unreachable('the element is read'),
    getOwnPropertyDescriptor: () => expect.unreachable('the element is read'),
    ownKeys: () => expect.unreachable('the element is read'),
  },
)
const many = (count: number) => Array.from({ length: count }, () => unread)
const entries = Object.defineProperties(
  {},
  Object.fromEntries(
    Array.from({ length: 256 }, (_, n) => [
      `k${n}`,
      { enumerable: true, get: () => unread.valueOf },
    ]),
  ),
)
const commitment = { type: 1, commitmentId: `0x${'00'.repeat(36)}` }
const transaction = { networkId: '1', creationSlot: 1, contextInputs: [commitment] }

describe('a list that is too long is refused before its elements are read:', () => {
  test.each<[string, Schema<unknown>, object, string]>([
    [
      'context inputs',
      SignedTransaction,
      { type: 1, transaction: { ...transaction, contextInputs: many(129) }, unlocks: [] },
      'TX_CONTEXT_INPUTS_COUNT',
    ],
    [
      'unlocks beside documented context inputs',
      SignedTransaction,
      { type: 1, transaction, unlocks: many(129) },
      'JSON_MISSING',
    ],
    [
      'unlocks of a multi unlock beside documented context inputs',
      SignedTransaction,
      { type: 1, transaction, unlocks: [{ type: 5, unlocks: many(129) }] },
      'JSON_MISSING',
    ],
    [
      'keys of a block issuer, as public keys',
      BlockIssuer,
      { type: 6, expirySlot: 1, blockIssuerKeys: many(129) },
      'FEATURE_ISSUER_KEYS_COUNT',
    ],
    ['metadata', Metadata, { type: 2, entries }, 'FEATURE_METADATA_COUNT'],
  ])('%s', (_name, schema, json, code) => {
    expect(parse(schema, json)).toMatchObject({ ok: false, error: { code } })
  })
})
