import { describe, expect, test } from 'vitest'
import { changesOf } from '../../src/explorer/parts/changes.ts'
import { stripOf } from '../../src/explorer/parts/issued-blocks.ts'
import { mediaIn, metadataRows, nameIn } from '../../src/explorer/parts/metadata-rows.ts'

/** What the pages of chains compute of an answer. */

const hex = (text: string) => `0x${Buffer.from(text).toString('hex')}`

describe('two states of a chain', () => {
  const content = {
    __typename: 'AccountOutput',
    amount: '5',
    mana: '0',
    unlockConditions: [{ __typename: 'AddressUnlockCondition', address: { bech32: 'tst1a' } }],
    features: [
      {
        ...{ __typename: 'BlockIssuerFeature', expirySlot: 9 },
        blockIssuerKeys: [{ pubKeyHash: '0x0102' }],
      },
    ],
  }

  test('that are the same have no changes', () => {
    expect(changesOf(content, structuredClone(content))).toEqual([])
  })

  test('differ by what is new, gone and another', () => {
    const next = {
      ...content,
      amount: '7',
      unlockConditions: [{ __typename: 'AddressUnlockCondition', address: { bech32: 'tst1b' } }],
      features: [{ __typename: 'StakingFeature', fixedCost: '0' }],
    }
    expect(changesOf(content, next)).toEqual([
      { name: 'amount', before: '5', after: '7' },
      { name: 'address', before: 'tst1a', after: 'tst1b' },
      { name: 'staking: fixed cost', before: undefined, after: '0' },
      { name: 'block issuer: expiry slot', before: '9', after: undefined },
      { name: 'block issuer: block issuer keys 0x0102', before: '', after: undefined },
    ])
  })

  test('of a foundry have numbers of tokens in decimal digits', () => {
    const scheme = (mintedTokens: string) => ({ tokenScheme: { mintedTokens } })
    expect(changesOf(scheme('0xa'), scheme('0x100'))).toEqual([
      { name: 'minted tokens', before: '10', after: '256' },
    ])
  })
})

describe('metadata', () => {
  test('is text, members of JSON, or bytes', () => {
    const entries = [
      { key: 'about', value: hex('{"name":"A","size":{"x":1}}') },
      { key: 'note', value: hex('a <b>') },
      { key: 'raw', value: '0xff00' },
      { key: 'broken', value: hex('{"name":') },
    ]
    expect(metadataRows(entries)).toEqual([
      { name: 'about.name', value: 'A', isText: true },
      { name: 'about.size', value: '{"x":1}', isText: true },
      { name: 'note', value: 'a <b>', isText: true },
      { name: 'raw', value: '0xff00', isText: false },
      { name: 'broken', value: '{"name":', isText: true },
    ])
    expect(nameIn(entries)).toBe('A')
    expect(nameIn([{ key: 'name', value: hex('a'.repeat(999)) }])).toHaveLength(80)
    expect(nameIn(undefined)).toBeUndefined()
  })

  const rows = [
    [
      'a picture in JSON',
      hex('{"uri":"data:image/png;base64,AA=="}'),
      'data:image/png;base64,AA==',
    ],
    ['an address elsewhere', hex('{"uri":"https://a.example/x.png"}'), 'https://a.example/x.png'],
    ['the bytes of a picture', '0x89504e47', 'data:image/png;base64,iVBORw=='],
    ['a script is none', hex('{"uri":"javascript:alert(1)"}'), undefined],
    ['a page in the address is none', hex('{"uri":"data:text/html,x"}'), undefined],
    ['other bytes are none', '0xff00', undefined],
  ] as const
  test.each(rows)('media: %s', (_name, value, expected) => {
    expect(mediaIn([{ key: 'about', value }])).toBe(expected)
  })
})

describe('the blocks of an epoch', () => {
  const epoch = { firstSlot: 64, lastSlot: 127 }
  const blocksAt = (...slots: readonly number[]) => slots.map((slot) => ({ slot, issuerId: '0x1' }))

  test('are counted by issuer and slot, in the newest sixty slots', () => {
    const strip = stripOf(epoch, {
      newest: { index: 200 },
      blocks: { nodes: blocksAt(150, 127, 100, 100, 64), pageInfo: { hasNextPage: false } },
    })
    expect(strip).toEqual({
      from: 68,
      to: 127,
      counts: new Map([
        [
          '0x1',
          new Map([
            [127, 1],
            [100, 2],
          ]),
        ],
      ]),
    })
  })

  test('begin after the oldest slot of a page that is full', () => {
    const nodes = blocksAt(110, 105, 100)
    const strip = stripOf(epoch, {
      newest: { index: 110 },
      blocks: { nodes, pageInfo: { hasNextPage: true } },
    })
    expect(strip).toMatchObject({ from: 101, to: 110 })
  })

  test('are not shown where the page has none of them', () => {
    const blocks = { nodes: blocksAt(200, 199), pageInfo: { hasNextPage: true } }
    expect(stripOf(epoch, { newest: { index: 200 }, blocks })).toBeUndefined()
    expect(stripOf(epoch, { newest: { index: 200 }, blocks: null })).toBeUndefined()
  })
})
