import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { publicKeyHash } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { refusalMessage } from '../../src/protocol/refusal-message.ts'
import { encode, parse, print } from '../../src/protocol/schema/schema.ts'
import { blockProblems } from '../../src/protocol/syntax.ts'
import { edited } from '../support/edited.ts'
import { parsed } from '../support/parsed.ts'
import type { InspectedVector } from '../support/vector-lines.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

/** Tests the spellings of the service document that mean the same value. */

describe('tokenScheme as a list', () => {
  const json = vectorNamed('block/transaction/output-kind-3')
  const path = 'body.payload.transaction.outputs.0.tokenScheme'

  test('of one is the scheme', () => {
    expect(
      parse(
        Block,
        edited(json, path, (scheme) => [scheme]),
      ),
    ).toEqual(parse(Block, json))
  })

  const rows = [
    ['no scheme', () => [], path, 'JSON_TYPE'],
    ['two schemes', (scheme: unknown) => [scheme, scheme], path, 'JSON_TYPE'],
    ['a scheme of another type', () => [{ type: 1 }], `${path}.0`, 'TYPE_TOKEN_SCHEME'],
    ['a list', (scheme: unknown) => [[scheme]], `${path}.0`, 'JSON_TYPE'],
  ] as const
  test.each(rows)('of %s is rejected', (_name, change, at, code) => {
    const error = { code, path: at }
    expect(parse(Block, edited(json, path, change))).toEqual({ ok: false, error })
  })
})

describe('block issuer keys as public keys', () => {
  const keys = [1, 2, 3, 4].map((byte): Hex => `0x${`0${byte}`.repeat(32)}`)
  const hashes = keys.map(publicKeyHash).sort()

  test('are hashed, in any order', () => {
    const [first, ...others] = keys.map((publicKey) => ({ type: 0, publicKey }))
    const [, hashOfSecond] = keys.map(publicKeyHash)
    const mixed = [...others.slice(1), first, { type: 0, pubKeyHash: hashOfSecond }]
    for (const keysJson of [[first, ...others], [...others.toReversed(), first], mixed]) {
      const account = parsed(Output, accountWith(keysJson))
      const [feature] = account.type === 1 ? account.features : []
      const expected = hashes.map((pubKeyHash) => ({ type: 0, pubKeyHash }))
      expect(feature).toMatchObject({ blockIssuerKeys: expected })
      expect(Object(print(Output, account)).features[0].blockIssuerKeys).toEqual(expected)
    }
  })

  const rows = [
    [
      'with a key of another length',
      [{ type: 0, publicKey: '0x00' }],
      '0.publicKey',
      'JSON_HEX_LENGTH',
    ],
    ['with a key that is no text', [{ type: 0, publicKey: 7 }], '0.publicKey', 'JSON_HEX'],
    [
      'with the same key twice',
      Array(2).fill({ type: 0, publicKey: keys[0] }),
      '1',
      'FEATURE_ISSUER_KEYS_ORDER',
    ],
    ['without a key', [{ type: 0 }], '0.pubKeyHash', 'JSON_MISSING'],
  ] as const
  test.each(rows)('%s are rejected', (_name, keysJson, at, code) => {
    const error = { code, path: `features.0.blockIssuerKeys.${at}` }
    expect(parse(Output, accountWith(keysJson))).toEqual({ ok: false, error })
  })
})

describe('the network id of name and version', () => {
  const network = present(vectorNetworks.get('standard'), 'network')
  const json = vectorNamed('block/transaction/minimal')
  const documented = network.documentedId.toString()

  test.each(['header.networkId', 'body.payload.transaction.networkId'])(
    'is accepted at %s',
    (path) => {
      expect(problemsOf(edited(json, path, () => documented))).toEqual([])
      const other = (network.id + 1n).toString()
      const code = path === 'header.networkId' ? 'HEADER_NETWORK_ID' : 'TX_NETWORK_ID'
      expect(problemsOf(edited(json, path, () => other))).toEqual([{ code, path, of: 'form' }])
    },
  )

  function problemsOf(changed: unknown) {
    const block = parsed(Block, changed)
    return blockProblems(block, { network, bytes: encode(Block, block), from: 'json' })
  }
})

describe('mana burned in the payload', () => {
  const json = vectorNamed('block/transaction/minimal')
  const { maxBurnedMana } = Object(json).body
  const path = 'body.payload.maxBurnedMana'

  test('adds nothing if it agrees with the body', () => {
    expect(
      parse(
        Block,
        edited(json, path, () => maxBurnedMana),
      ),
    ).toEqual(parse(Block, json))
  })

  const rows = [
    ['it differs', `${BigInt(maxBurnedMana) + 1n}`, 'MANA_BURNED_DIFFERS'],
    ['it is a number', Number(maxBurnedMana), 'JSON_U64'],
    ['it is null', null, 'JSON_U64'],
  ] as const
  test.each(rows)('is rejected if %s', (_name, mana, code) => {
    expect(
      parse(
        Block,
        edited(json, path, () => mana),
      ),
    ).toEqual({ ok: false, error: { code, path } })
  })

  test('is ignored in tagged data', () => {
    const tagged = vectorNamed('block/tagged-data/tag-1-data-0', 'blocks')
    expect(
      parse(
        Block,
        edited(tagged, path, () => 'x'),
      ),
    ).toEqual(parse(Block, tagged))
  })
})

test('a transaction hash without the slot is rejected with a message that names the slot', () => {
  const path = 'body.payload.transaction.inputs.0.transactionId'
  const json = edited(vectorNamed('block/transaction/minimal'), path, (id) =>
    String(id).slice(0, 66),
  )
  const answer = parse(Block, json)
  expect(answer).toEqual({ ok: false, error: { code: 'TRANSACTION_ID_WITHOUT_SLOT', path } })
  const message = answer.ok ? '' : refusalMessage(answer.error, 'the block')
  expect(message).toContain(`${path} has only the 32-byte hash, without the creation slot`)
})

function accountWith(blockIssuerKeys: readonly unknown[]): unknown {
  return {
    type: 1,
    amount: '1',
    mana: '0',
    accountId: `0x${'00'.repeat(32)}`,
    foundryCounter: 0,
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: `0x${'11'.repeat(32)}` } }],
    features: [{ type: 6, expirySlot: 9, blockIssuerKeys }],
  }
}

function vectorNamed(name: string, file = 'transactions'): unknown {
  return loadVectors<InspectedVector>(file).find((vector) => vector.name === name)?.json
}
