import { describe, expect, test } from 'vitest'
import { shortened } from '../../src/explorer/format.ts'
import { changesOf, isOfBaseTokens } from '../../src/explorer/parts/chains/changes.ts'
import { mediaIn, metadataRows, nameIn } from '../../src/explorer/parts/chains/metadata-rows.ts'
import { stripOf } from '../../src/explorer/parts/issued-blocks.ts'
import { isSame } from '../../src/explorer/parts/same.ts'
import { csvOf, fileNameOf } from '../../src/explorer/parts/tables/csv.ts'
import {
  blocksIn,
  nextBlocks,
  partsOf,
  rowsPerBlock,
  withRow,
} from '../../src/explorer/parts/tables/row-blocks.ts'

/** Computations of the pages of chains and lists. */

const hex = (text: string) => `0x${Buffer.from(text).toString('hex')}`

test('an id is shortened to digits that tell it from others of its kind', () => {
  const id = `0x${'0123456789abcdef'.repeat(4)}`
  expect(shortened(id)).toBe('0x01234567…abcdef')
  // The slot 200 at the end.
  expect(shortened(`${id}c8000000`)).toBe('0x0123456789abcd…')
  expect(shortened(`${id}c80000000100`)).toBe('0x01234567…000100')
  expect(shortened(`tst1${'q'.repeat(59)}`)).toBe('tst1qqqq…qqqqqq')
})

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

  test('that are equal have no changes', () => {
    expect(changesOf(content, structuredClone(content))).toEqual([])
  })

  test('differ by added, removed and changed values', () => {
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

  test('have slots and epochs without an end in words', () => {
    const staking = (endEpoch: number) => ({
      features: [{ __typename: 'StakingFeature', endEpoch }],
    })
    expect(changesOf(staking(4_294_967_295), staking(7))).toEqual([
      { name: 'staking: end epoch', before: 'forever', after: '7' },
    ])
  })

  test('of a foundry have token amounts in decimal digits', () => {
    const scheme = (mintedTokens: string) => ({ tokenScheme: { mintedTokens } })
    expect(changesOf(scheme('0xa'), scheme('0x100'))).toEqual([
      { name: 'minted tokens', before: '10', after: '256' },
    ])
  })
})

test.each([
  ['amount', '5', true],
  ['staking: staked amount', '5', true],
  ['native token: token amount', '5', false],
  ['metadata: amount', '0x3130', false],
  ['mana', '5', false],
])('a change of %s from or to %s is of base tokens: %j', (name, value, expected) => {
  expect(isOfBaseTokens(name, value)).toBe(expected)
})

describe('metadata', () => {
  test('is shown as text, JSON members or bytes', () => {
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

  test.each([
    ['no name without a visible character', ' \u200b\u202e', undefined],
    ['a name of another script', 'قطة', 'قطة'],
    ['a long name up to a whole character', `${'a'.repeat(79)}😀😀`, `${'a'.repeat(79)}😀`],
  ])('has %s', (_name, name, expected) => {
    expect(nameIn([{ key: 'about', value: hex(JSON.stringify({ name })) }])).toBe(expected)
  })

  test('keeps the digits of whole numbers that JavaScript would round', () => {
    const value = hex(
      '{"id":12345678901234567890,"of":[-9007199254740993,1.5,"\\"8888888888888888888"]}',
    )
    expect(metadataRows([{ key: 'a', value }])).toEqual([
      { name: 'id', value: '12345678901234567890', isText: true },
      { name: 'of', value: '["-9007199254740993",1.5,"\\"8888888888888888888"]', isText: true },
    ])
  })

  const rows = [
    ['an image in JSON', hex('{"uri":"data:image/png;base64,AA=="}'), 'data:image/png;base64,AA=='],
    ['a URL of another host', hex('{"uri":"https://a.example/x.png"}'), 'https://a.example/x.png'],
    ['the bytes of an image', '0x89504e47', 'data:image/png;base64,iVBORw=='],
    ['none for a script', hex('{"uri":"javascript:alert(1)"}'), undefined],
    ['none for a page in a data URL', hex('{"uri":"data:text/html,x"}'), undefined],
    ['none for other bytes', '0xff00', undefined],
  ] as const
  test.each(rows)('media: %s', (_name, value, expected) => {
    expect(mediaIn([{ key: 'about', value }])).toBe(expected)
  })
})

describe('the blocks of an epoch', () => {
  const epoch = { firstSlot: 64, lastSlot: 127 }
  const blocksAt = (...slots: readonly number[]) => slots.map((slot) => ({ slot, issuerId: '0x1' }))

  test('are counted by issuer and slot in the newest sixty slots', () => {
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

  test('are counted from after the oldest slot of a full page', () => {
    const nodes = blocksAt(110, 105, 100)
    const strip = stripOf(epoch, {
      newest: { index: 110 },
      blocks: { nodes, pageInfo: { hasNextPage: true } },
    })
    expect(strip).toMatchObject({ from: 101, to: 110 })
  })

  test('are not shown if the page has none of them', () => {
    const blocks = { nodes: blocksAt(200, 199), pageInfo: { hasNextPage: true } }
    expect(stripOf(epoch, { newest: { index: 200 }, blocks })).toBeUndefined()
    expect(stripOf(epoch, { newest: { index: 200 }, blocks: null })).toBeUndefined()
  })
})

describe('a CSV file', () => {
  test.each([
    ['plain text', 'tst1qq', 'tst1qq'],
    ['a comma', 'a, b', '"a, b"'],
    ['quotes', 'a "b"', '"a ""b"""'],
    ['a line feed', 'a\nb', '"a\nb"'],
    ['a carriage return', 'a\rb', '"a\rb"'],
    ['a formula', '=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ['a plus', '+1+2', "'+1+2"],
    ['a minus', '-1+2', "'-1+2"],
    ['an at', '@SUM(1)', "'@SUM(1)"],
    ['a tab', '\t=1', "'\t=1"],
    ['a number below zero', '-42', '-42'],
    ['a sign inside', 'a=1', 'a=1'],
    ['nothing', '', ''],
  ])('has a safe field for %s', (_name, text, expected) => {
    expect(csvOf([['a', text]])).toBe(`a,${expected}\r\n`)
  })

  test('is named after the page, the list and the time', () => {
    const timeMs = Date.UTC(2026, 10, 22, 8, 5, 9, 123)
    expect(fileNameOf('nfts', 'NFTs', timeMs)).toBe('nfts-20261122T080509Z.csv')
    expect(fileNameOf('rich', 'The richest addresses', timeMs)).toBe(
      'rich-the-richest-addresses-20261122T080509Z.csv',
    )
  })
})

describe('of a long list', () => {
  // Heights of the blocks by their numbers.
  const heightOf = (block: number) => [400, 1_000, 400, 400, 400][block] ?? Number.NaN
  const list = { rowCount: 4 * rowsPerBlock + 3, heightOf }
  const blocksBetween = (from: number, to: number, focusedRow?: number) =>
    blocksIn({ ...list, from, to, focusedRow })

  test('the visible blocks are drawn', () => {
    expect(blocksBetween(-500, 0)).toEqual([])
    expect(blocksBetween(-500, 1)).toEqual([0])
    expect(blocksBetween(400, 1_400)).toEqual([1])
    expect(blocksBetween(1_399, 1_401)).toEqual([1, 2])
    expect(blocksBetween(2_599, 9_999)).toEqual([4])
    expect(blocksBetween(2_600, 9_999)).toEqual([])
  })

  test('the blocks around the focus are drawn too', () => {
    expect(blocksBetween(-500, 1, 42)).toEqual([0, 3, 4])
    expect(blocksBetween(2_599, 9_999, 9)).toEqual([0, 1, 4])
    expect(blocksBetween(-500, 1, 10)).toEqual([0, 1, 2])
  })

  test('a few further blocks are drawn at a time, the middle ones first', () => {
    expect(nextBlocks([0, 1], [1, 2])).toEqual([1, 2])
    expect(nextBlocks([0, 1], [5, 6, 7, 8, 9])).toEqual([6, 7])
    // The row with the focus stays, whatever blocks were chosen before.
    expect(withRow([0, 9], 4 * rowsPerBlock)).toEqual([0, 4, 9])
    expect(withRow([0, 9], 9 * rowsPerBlock + 1)).toEqual([0, 9])
    expect(withRow([0, 9], undefined)).toEqual([0, 9])
    expect(nextBlocks([6, 7], [5, 6, 7, 8, 9])).toEqual([5, 6, 7, 8])
    expect(nextBlocks([5, 6, 7, 8], [5, 6, 7, 8, 9])).toEqual([5, 6, 7, 8, 9])
    expect(nextBlocks([5, 6], [])).toEqual([])
  })

  test('gaps have the heights of the missing blocks', () => {
    expect(partsOf([1, 4], list)).toEqual([
      { is: 'GAP', from: 0, height: 400 },
      { is: 'ROWS', from: 10, to: 20 },
      { is: 'GAP', from: 20, height: 800 },
      { is: 'ROWS', from: 40, to: 43 },
    ])
    expect(partsOf([0], list).at(-1)).toEqual({ is: 'GAP', from: 10, height: 2_200 })
  })

  test('that became shorter no removed row is drawn', () => {
    expect(partsOf([0, 3, 4], { rowCount: 5, heightOf })).toEqual([{ is: 'ROWS', from: 0, to: 5 }])
    expect(partsOf([0], { rowCount: 0, heightOf })).toEqual([])
  })
})

test.each([
  [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, true],
  [{ a: [1, { b: null }] }, { a: [1, { b: 0 }] }, false],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [{ a: undefined }, { b: undefined }, false],
  [[1, 2], [1], false],
  [null, {}, false],
  [Number.NaN, Number.NaN, true],
])('%j and %j are equal: %j', (one, other, expected) => {
  expect(isSame(one, other)).toBe(expected)
  expect(isSame(other, one)).toBe(expected)
})
