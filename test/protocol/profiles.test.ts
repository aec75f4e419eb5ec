import { afterAll, describe, expect, test } from 'vitest'
import { assert, present } from '../../src/lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../src/lib/hex.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { Block } from '../../src/protocol/block.ts'
import { isOfNode } from '../../src/protocol/problems.ts'
import { decode, encode, type Json } from '../../src/protocol/schema/schema.ts'
import { blockProblems } from '../../src/protocol/syntax.ts'
import { inspectLine } from '../../src/tools/inspect.ts'
import { inspectBlock } from '../../src/tools/inspect-block.ts'
import { verifyLine } from '../../src/tools/verify.ts'
import { edited } from '../support/edited.ts'
import { parsed } from '../support/parsed.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

/**
 * Tests the two profiles (codec reference 19): what nodes accept is decoded and keeps its bytes, and what only the official SDK rejects is
 * rejected by `inspect` alone, and attributed to the SDK.
 */

const checker = openSignatureChecker({ queueLimit: 64 })
afterAll(() => checker.close())
const network = present(vectorNetworks.get('standard'), 'the standard network')

const payload = 'body.payload'
const transaction = `${payload}.transaction`

/** A case as JSON. If JSON cannot express it, the bytes are edited. */
interface Case {
  readonly json: unknown
  readonly bytes?: (hex: string) => string
  /** The code and path with which only the SDK rejects it, if it does. */
  readonly sdk: readonly [string, string] | undefined
  /** The forms that the SDK rejects; it accepts a serial number of 0 in bytes. */
  readonly forms?: readonly ('json' | 'bytes')[]
}

const key = (byte: string) => ({ type: 0, publicKey: `0x${byte.repeat(32)}` })
const signed = (byte: string, signature = byte) => ({
  type: 0,
  signature: { ...key(byte), signature: `0x${signature.repeat(64)}` },
})
const multi = (...unlocks: readonly object[]) => ({ type: 5, unlocks })
const reference = (index: number) => ({ type: 1, reference: index })
const ed25519 = { type: 0, pubKeyHash: `0x${'77'.repeat(32)}` }

const rows: readonly (readonly [string, () => Case])[] = [
  [
    '1 - metadata in the order of the node',
    () => ({
      json: withOutput({ features: [{ type: 2, entries: { aa: '0x02', b: '0x01' } }] }),
      bytes: (hex) => hex.replace('026161010002' + '0162010001', '0162010001' + '026161010002'),
      sdk: ['FEATURE_METADATA_ORDER', `${transaction}.outputs.0.features.0.entries`],
    }),
  ],
  [
    '1 - metadata whose two orders are equal',
    () => ({
      json: withOutput({ features: [{ type: 2, entries: { a: '0x02', bb: '0x01' } }] }),
      sdk: undefined,
    }),
  ],
  [
    '2 - an empty key of metadata',
    () => ({
      json: withOutput({ features: [{ type: 2, entries: { '': '0x01', a: '0x' } }] }),
      sdk: ['FEATURE_METADATA_KEY_LENGTH', `${transaction}.outputs.0.features.0.entries`],
    }),
  ],
  [
    '2 - an empty key of state metadata',
    () => ({
      json: withAnchor({ features: [{ type: 3, entries: { '': '0x01' } }] }),
      sdk: ['FEATURE_METADATA_KEY_LENGTH', `${transaction}.outputs.0.features.0.entries`],
    }),
  ],
  [
    '3 - immutable metadata above 8192 bytes',
    () => ({
      json: withAnchor({
        immutableFeatures: [{ type: 2, entries: { a: `0x${'00'.repeat(9000)}` } }],
      }),
      sdk: ['FEATURE_METADATA_SIZE', `${transaction}.outputs.0.immutableFeatures.0.entries`],
    }),
  ],
  [
    '4 - a bit without meaning in the capabilities of a transaction',
    () => ({
      json: edited(spending(), `${transaction}.capabilities`, () => '0xff'),
      sdk: ['TX_CAPABILITIES_UNKNOWN_BIT', `${transaction}.capabilities`],
    }),
  ],
  [
    '4 - a bit without meaning in the capabilities of a restricted address',
    () => ({
      json: withOutput({
        unlockConditions: [
          { type: 0, address: { type: 48, address: ed25519, allowedCapabilities: '0x0080' } },
        ],
      }),
      sdk: [
        'ADDRESS_CAPABILITIES_UNKNOWN_BIT',
        `${transaction}.outputs.0.unlockConditions.0.address.allowedCapabilities`,
      ],
    }),
  ],
  [
    '5 - an allotment of 0',
    () => ({
      json: edited(spending(), `${transaction}.allotments`, () => [
        { accountId: `0x${'88'.repeat(32)}`, mana: '0' },
      ]),
      sdk: ['TX_ALLOTMENTS_ZERO', `${transaction}.allotments.0.mana`],
    }),
  ],
  [
    '11 - a validator that signals a newer version with other parameters',
    () => ({
      json: voting({ highestSupportedVersion: 4, protocolParametersHash: `0x${'99'.repeat(32)}` }),
      sdk: ['VALIDATION_PARAMS_HASH', 'body.protocolParametersHash'],
    }),
  ],
  [
    '16 - one key with two signatures inside multi unlocks',
    () => ({
      json: unlocking(multi(signed('01'), signed('02')), multi(signed('01', 'a1'), signed('03'))),
      sdk: undefined,
    }),
  ],
  [
    '17 - one signature in two multi unlocks',
    () => ({
      json: unlocking(multi(signed('01'), signed('02')), multi(signed('01'), signed('03'))),
      sdk: ['UNLOCK_SIGNATURE_IN_TWO_MULTIS', `${payload}.unlocks.1.unlocks.0.signature`],
    }),
  ],
  [
    '17 - one signature twice in a multi unlock',
    () => ({
      json: unlocking(multi(signed('01'), signed('01'))),
      sdk: ['UNLOCK_SIGNATURE_TWICE_IN_MULTI', `${payload}.unlocks.0.unlocks.1.signature`],
    }),
  ],
  [
    '18 - a reference unlock to a multi unlock',
    () => ({
      json: unlocking(multi(signed('01'), signed('02')), reference(0)),
      sdk: ['UNLOCK_REFERENCE_TO_MULTI', `${payload}.unlocks.1.reference`],
    }),
  ],
  [
    '21 - a new anchor under the anchor address of zeros',
    () => ({
      json: withAnchor({
        unlockConditions: [
          { type: 4, address: { type: 24, anchorId: `0x${'00'.repeat(32)}` } },
          { type: 5, address: ed25519 },
        ],
      }),
      sdk: ['OUTPUT_ANCHOR_CYCLIC', `${transaction}.outputs.0.unlockConditions.0.address`],
    }),
  ],
  [
    '22 - a foundry of serial number 0',
    () => ({
      json: withOutput(foundryOfSerial(0)),
      sdk: ['OUTPUT_FOUNDRY_SERIAL_ZERO', `${transaction}.outputs.0.serialNumber`],
      forms: ['json'],
    }),
  ],
]

describe('nodes accept', () => {
  test.each(rows)('%s', async (_name, make) => {
    const { json, bytes: edit = (hex) => hex, sdk, forms = ['json', 'bytes'] } = make()
    const canonical = hexOf(json)
    const bytes = hexToBytes(`0x${edit(canonical).slice(2)}`)
    const block = decode(Block, bytes)
    assert(block.ok, 'the bytes are read')
    expect(bytesToHex(encode(Block, block.value))).toBe(bytesToHex(bytes))
    for (const from of ['json', 'bytes'] as const) {
      expect(blockProblems(block.value, { network, bytes, from }).filter(isOfNode)).toEqual([])
    }
    const isExpressibleInJson = bytesToHex(bytes) === canonical
    expect(await verdict({ bytes: bytesToHex(bytes) })).toEqual(
      forms.includes('bytes') ? sdk : undefined,
    )
    if (isExpressibleInJson) expect(await verdict({ json })).toEqual(sdk)
  })
})

test('`verify` has the verdict of the node: a vote for a newer version fails because of its issuer, not because of its form', async () => {
  const block = voting({
    highestSupportedVersion: 4,
    protocolParametersHash: `0x${'99'.repeat(32)}`,
  })
  const context = { ...nothingKnown, committee: [] }
  const line = { ref: 1, kind: 'blocks', parameters: paramsJson, block, context }
  const { result } = JSON.parse(await verifyLine({ checker }, JSON.stringify(line)))
  const [stage, reason] = ['pre-filter', 'ValidatorNotInCommittee']
  expect(result).toEqual({ accepted: false, stage, reason })
})

const nothingKnown = {
  clock: '18446744073709551615',
  maxClockDriftNanoseconds: '0',
  referenceManaCost: '1',
  accounts: {},
  parents: {},
}

describe('nodes also reject', () => {
  const rejected: readonly (readonly [string, () => unknown, string])[] = [
    [
      'metadata in neither order',
      () =>
        hexOf(
          withOutput({ features: [{ type: 2, entries: { a: '0x', b: '0x', cc: '0x' } }] }),
        ).replace('01610000' + '01620000' + '0263630000', '01620000' + '01610000' + '0263630000'),
      'FEATURE_METADATA_ORDER',
    ],
    [
      'mutable metadata above 8192 bytes',
      () =>
        hexOf(withOutput({ features: [{ type: 2, entries: { a: `0x${'00'.repeat(9000)}` } }] })),
      'FEATURE_METADATA_SIZE',
    ],
    [
      'one key that signs both inside and beside a multi unlock',
      () => hexOf(unlocking(multi(signed('01'), signed('02')), signed('01', 'a1'))),
      'UNLOCK_SIGNATURE_UNIQUE',
    ],
    [
      'one key that signs in a multi unlock after its own unlock',
      () => hexOf(unlocking(signed('01'), multi(signed('01'), signed('02')))),
      'UNLOCK_SIGNATURE_UNIQUE',
    ],
    [
      'a reference inside a multi unlock to another multi unlock',
      () => hexOf(unlocking(multi(signed('01'), signed('02')), multi(reference(0), signed('03')))),
      'UNLOCK_REFERENCE',
    ],
  ]
  test.each(rejected)('%s', async (_name, make, code) => {
    const bytes = hexToBytes(String(make()) as `0x${string}`)
    const inspected = await inspectBlock({ checker, network }, { form: 'bytes', bytes })
    if (!inspected.ok) expect(inspected.error.code).toBe(code)
    else expect(inspected.value.problems.filter(isOfNode)).toMatchObject([{ code }])
  })
})

/** Returns the code and path with which `inspect` rejects a form because of the SDK alone. */
async function verdict(form: object): Promise<readonly [string, string] | undefined> {
  const line = { ref: 1, kind: 'block', params: paramsJson, ...form }
  const answer = JSON.parse(await inspectLine({ checker, network }, JSON.stringify(line)))
  if (answer.ok) return undefined
  const { code, path, only, message } = answer.error
  expect([only, message]).toEqual(['sdk', expect.stringContaining('only the SDK refuses it')])
  return [code, path]
}

interface ParametersVector extends Vector {
  readonly json: Json
}

const paramsJson = loadVectors<ParametersVector>('params').find(
  ({ name }) => name === 'params/standard',
)?.json

interface BlockVector extends Vector {
  readonly json: unknown
}

/** Returns a block with a transaction that spends one output. */
function spending(): unknown {
  return plain('transactions', 'block/transaction/minimal')
}

function voting(members: object): unknown {
  const vectors = loadVectors<BlockVector>('blocks').filter(({ json }) => bodyOf(json).type === 1)
  return edited(present(vectors[0], 'a validation block').json, 'body', (body) => ({
    ...Object(body),
    ...members,
  }))
}

function bodyOf(json: unknown) {
  return Object(Reflect.get(Object(json), 'body'))
}

function plain(file: string, name: string): unknown {
  return present(
    loadVectors<BlockVector>(file).find((vector) => vector.name === name),
    name,
  ).json
}

function withOutput(members: object): unknown {
  return edited(spending(), `${transaction}.outputs`, () => [
    {
      type: 0,
      amount: '1000000000',
      mana: '0',
      unlockConditions: [{ type: 0, address: ed25519 }],
      ...members,
    },
  ])
}

function withAnchor(members: object): unknown {
  return withOutput({
    type: 2,
    anchorId: `0x${'00'.repeat(32)}`,
    stateIndex: 0,
    unlockConditions: [
      { type: 4, address: ed25519 },
      { type: 5, address: ed25519 },
    ],
    ...members,
  })
}

function foundryOfSerial(serialNumber: number): object {
  return {
    type: 3,
    serialNumber,
    tokenScheme: { type: 0, mintedTokens: '0x0', meltedTokens: '0x0', maximumSupply: '0x1' },
    unlockConditions: [{ type: 6, address: { type: 8, accountId: `0x${'66'.repeat(32)}` } }],
  }
}

/** Returns a block whose transaction has as many inputs as unlocks. */
function unlocking(...unlocks: readonly object[]): unknown {
  const inputs = unlocks.map((_unlock, transactionOutputIndex) => ({
    type: 0,
    transactionId: `0x${'55'.repeat(36)}`,
    transactionOutputIndex,
  }))
  const spent = edited(spending(), `${transaction}.inputs`, () => inputs)
  return edited(spent, `${payload}.unlocks`, () => unlocks)
}

function hexOf(json: unknown): string {
  return bytesToHex(encode(Block, parsed(Block, json)))
}
