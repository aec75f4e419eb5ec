import { coerceInputValue, type GraphQLInputType } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { ProtocolInput } from '../../../../src/api/graphql/model/from-schema-inputs.ts'
import { blockInput, payloadInput } from '../../../../src/api/graphql/model/model.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { present } from '../../../../src/lib/assert.ts'
import { bytesToHex, type Hex } from '../../../../src/lib/hex.ts'
import { Block } from '../../../../src/protocol/block.ts'
import { encode, parse } from '../../../../src/protocol/schema/schema.ts'
import { Payload } from '../../../../src/protocol/transaction.ts'
import { unwrap } from '../../../support/log-store.ts'
import { parsed } from '../../../support/parsed.ts'
import { inputOf } from '../../../support/protocol-input.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

interface BlockVector extends Vector {
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a block, which these tests change anywhere
  readonly json: any
  readonly bytes: Hex
}

const blocks = [...loadVectors<BlockVector>('blocks'), ...loadVectors<BlockVector>('transactions')]

/** Coerces a value as GraphQL does; throws where the input type does not allow it. */
function coerced(type: string, input: unknown): ProtocolInput {
  const inputType = present(schema.getType(type), type) as GraphQLInputType
  return coerceInputValue(input, inputType) as ProtocolInput
}

describe('inputs', () => {
  test.each(blocks)('$name is the same block as typed input', ({ json, bytes }) => {
    const input = coerced('BlockInput', inputOf(Block, json))
    const block = parsed(Block, unwrap(blockInput.toJson(input)))
    expect(bytesToHex(encode(Block, block))).toBe(bytes)
  })

  const payloads = blocks.filter(({ json }) => json.body.payload !== undefined)
  test.each(payloads)('the payload of $name is the same as typed input', ({ json: { body } }) => {
    const input = coerced('PayloadInput', inputOf(Payload, body.payload))
    const payload = parsed(Payload, unwrap(payloadInput.toJson(input)))
    expect(payload).toEqual(parsed(Payload, body.payload))
  })

  test('a member that is null counts as omitted', () => {
    const { body, ...rest } = present(blocks[0], 'block').json
    const input = coerced(
      'BlockInput',
      inputOf(Block, { ...rest, body: { ...body, payload: undefined, weakParents: undefined } }),
    )
    const { basic } = input.body as { readonly basic: object }
    const nulls = { ...input, body: { basic: { ...basic, payload: null, weakParents: null } } }
    expect(blockInput.toJson(nulls)).toEqual(blockInput.toJson(input))
  })

  const wrongKinds = [
    ['none', {}],
    ['two', { taggedData: {}, candidacyAnnouncement: 'EMPTY' }],
    ['null', { taggedData: null }],
  ] as const
  test.each(wrongKinds)('exactly one kind is required, not %s', (_name, input) =>
    expect(() => coerced('PayloadInput', input)).toThrow(
      /Exactly one key must be specified|must be non-null/,
    ),
  )
})

describe('the path of an error', () => {
  const large = present(
    blocks.find(({ name }) => name === 'block/transaction/random-2'),
    'block',
  )

  const rows = [
    ['body.strongParents', 'body.basic.strongParents'],
    ['body.payload', 'body.basic.payload'],
    [
      'body.payload.transaction.inputs.0',
      'body.basic.payload.signedTransaction.transaction.inputs.0',
    ],
    ['header.networkId', 'header.networkId'],
    ['signature.publicKey', 'signature.ed25519.publicKey'],
    ['', ''],
  ] as const
  test.each(rows)('%s of JSON is %s of the input', (path, place) => {
    const input = coerced('BlockInput', inputOf(Block, large.json))
    expect(blockInput.toPath(input, path)).toBe(place)
  })

  test('has the id of a native token under its name in the input', () => {
    const isToken = ({ type }: { readonly type: number }) => type === 5
    const { outputs } = large.json.body.payload.transaction
    const at = outputs.findIndex(({ features = [] }) => features.some(isToken))
    const feature = outputs[at].features.findIndex(isToken)
    const path = `body.payload.transaction.outputs.${at}.features.${feature}.id`
    const input = coerced('BlockInput', inputOf(Block, large.json))
    expect(blockInput.toPath(input, path)).toMatch(
      new RegExp(`outputs\\.${at}\\.\\w+\\.features\\.${feature}\\.nativeToken\\.tokenId$`),
    )
  })

  const owner = { ed25519: { pubKeyHash: `0x${'11'.repeat(32)}` } }
  const basic = {
    amount: '1',
    mana: '0',
    unlockConditions: [{ address: { address: owner } }],
  }
  const outputs = [
    [
      'zero timelock',
      { unlockConditions: [{ address: { address: owner } }, { timelock: { slot: 0 } }] },
      'UC_TIMELOCK_ZERO',
      'unlockConditions.1.timelock.slot',
    ],
    [
      'a condition of another output',
      { unlockConditions: [{ governorAddress: { address: owner } }] },
      'OUTPUT_UNLOCK_CONDITIONS_ALLOWED',
      'unlockConditions.0',
    ],
    [
      'no condition',
      { unlockConditions: [] },
      'OUTPUT_UNLOCK_CONDITIONS_REQUIRED',
      'unlockConditions',
    ],
    [
      'a restricted address inside a multi address',
      {
        unlockConditions: [
          {
            address: {
              address: {
                multi: {
                  threshold: 1,
                  addresses: [
                    { weight: 1, address: { restricted: { address: owner } } },
                    { weight: 1, address: owner },
                  ],
                },
              },
            },
          },
        ],
      },
      'ADDRESS_MULTI_NESTED',
      'unlockConditions.0.address.address.multi.addresses.0.address',
    ],
    [
      'a weight beyond 8 bits',
      {
        unlockConditions: [
          {
            address: {
              address: {
                multi: {
                  threshold: 1,
                  addresses: [
                    { weight: 256, address: owner },
                    { weight: 1, address: owner },
                  ],
                },
              },
            },
          },
        ],
      },
      'JSON_NUMBER',
      'unlockConditions.0.address.address.multi.addresses.0.weight',
    ],
    [
      'an empty tag',
      { features: [{ tag: { tag: '0x' } }] },
      'FEATURE_TAG_LENGTH',
      'features.0.tag.tag',
    ],
    [
      'a metadata value that is too long',
      {
        features: [
          {
            metadata: {
              entries: [
                { key: 'a', value: '0x00' },
                { key: 'b.c', value: `0x${'00'.repeat(65_536)}` },
              ],
            },
          },
        ],
      },
      'FEATURE_METADATA_VALUE_LENGTH',
      'features.0.metadata.entries.1.value',
    ],
    [
      'a repeated feature',
      { features: [{ sender: { address: owner } }, { sender: { address: owner } }] },
      'OUTPUT_FEATURES_ORDER',
      'features.1',
    ],
  ] as const
  test.each(outputs)('%s', (_name, change, code, place) => {
    const input = payloadWith({ ...basic, ...change })
    const payload = parse(Payload, unwrap(payloadInput.toJson(input)))
    expect(payload).toMatchObject({ ok: false, error: { code } })
    const path = payload.ok ? '' : payload.error.path
    expect(payloadInput.toPath(input, path)).toBe(`${toOutput}.${place}`)
  })

  test('a repeated metadata key', () => {
    const entries = ['b', 'a', 'b'].map((key) => ({ key, value: '0x00' }))
    const input = payloadWith({ ...basic, features: [{ metadata: { entries } }] })
    const path = `${toOutput}.features.0.metadata.entries.2.key`
    expect(payloadInput.toJson(input)).toEqual({
      ok: false,
      error: { code: 'FEATURE_METADATA_ORDER', path },
    })
  })

  const toOutput = 'signedTransaction.transaction.outputs.0.basic'

  function payloadWith(output: object): ProtocolInput {
    const utxo = { transactionId: `0x${'22'.repeat(36)}`, transactionOutputIndex: 0 }
    return coerced('PayloadInput', {
      signedTransaction: {
        transaction: {
          networkId: '1',
          creationSlot: 1,
          inputs: [{ utxo }],
          outputs: [{ basic: output }],
        },
        unlocks: [{ reference: { reference: 0 } }],
      },
    })
  }
})
