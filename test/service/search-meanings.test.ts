import { describe, expect, test } from 'vitest'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { meaningsOf } from '../../src/service/search/meanings.ts'

const bytes = (byte: string, count: number) => byte.repeat(count)
const account = encodeBech32('tst', Uint8Array.of(8, ...new Uint8Array(32).fill(7)))

describe('the form of a text determines its possible meanings:', () => {
  const rows: [string, string, string[], string?][] = [
    ['36 bytes', `0x${bytes('ab', 36)}`, ['BLOCK_ID', 'TRANSACTION_ID', 'COMMITMENT_ID', 'TAG']],
    [
      '36 bytes without 0x, in capitals',
      bytes('AB', 36),
      ['BLOCK_ID', 'TRANSACTION_ID', 'COMMITMENT_ID', 'TAG'],
    ],
    ['38 bytes', `0x${bytes('ab', 38)}`, ['OUTPUT_ID', 'CHAIN_ID', 'TAG']],
    [
      '32 bytes',
      `0x${bytes('ab', 32)}`,
      ['CHAIN_ID', 'PUBLIC_KEY_HASH', 'PUBLIC_KEY', 'ID_BEGINNING', 'TAG'],
    ],
    ['an address in bytes', `0x08${bytes('ab', 32)}`, ['ADDRESS_BYTES', 'ID_BEGINNING', 'TAG']],
    ['33 bytes that are not an address', `0x09${bytes('ab', 32)}`, ['ID_BEGINNING', 'TAG']],
    ['eight digits', '0xdeadbeef', ['ID_BEGINNING', 'TAG']],
    ['nine digits', '0xdeadbeef1', ['ID_BEGINNING']],
    ['seven digits', '0xdeadbee', [], 'TOO_SHORT'],
    ['hexadecimal digits that form a word', 'cafe', ['TAG', 'TAG'], 'TOO_SHORT'],
    ['more digits than any id', `0x${bytes('ab', 39)}`, ['TAG']],
    ['more digits than any tag', `0x${bytes('ab', 65)}`, []],
    ['a small number', '7', ['MILESTONE_INDEX', 'TAG'], 'TOO_SHORT'],
    ['the largest slot', '4294967295', ['TIME', 'MILESTONE_INDEX', 'ID_BEGINNING', 'TAG', 'TAG']],
    ['the number after it', '4294967296', ['TIME', 'ID_BEGINNING', 'TAG', 'TAG']],
    ['milliseconds', '1700000000000', ['TIME', 'ID_BEGINNING', 'TAG']],
    ['nanoseconds', '1700000000000000000', ['TIME', 'ID_BEGINNING', 'TAG']],
    ['a date', '2026-11-22', ['TIME', 'TAG']],
    ['an invalid date', '2026-13-45', ['TAG'], 'MALFORMED'],
    ['a day that no month has', '2026-02-30', ['TAG'], 'MALFORMED'],
    ['a time on such a day', '2026-11-31 08:30', ['TAG'], 'MALFORMED'],
    ['the hour after the last one', '2026-11-22T24:00', ['TAG'], 'MALFORMED'],
    ['Bech32 of a key', encodeBech32('x', new Uint8Array(33)), ['BECH32']],
    ['Bech32 of a chain, in capitals', account.toUpperCase(), ['BECH32', 'CHAIN_RECORD']],
    ['Bech32 with a typo', account.replace(/.$/, 'b'), ['TAG'], 'MALFORMED'],
    [
      'Bech32 that is not an address',
      encodeBech32('tst', new Uint8Array(32)),
      ['TAG'],
      'MALFORMED',
    ],
    ['words', 'faucet of the network', ['TAG']],
    ['more words than a tag holds', 'word '.repeat(20), []],
    ['white space', ' \n', [], 'MALFORMED'],
    ['a text above the length limit', 'x'.repeat(1_001), [], 'MALFORMED'],
  ]
  test.each(rows)('%s', (_name, text, expected, misspelled) => {
    const { meanings, misspelling } = meaningsOf(`  ${text}\n`)
    expect(meanings.map(({ by }) => by)).toEqual(expected)
    expect(misspelling?.reason).toBe(misspelled)
  })

  const times: [string, bigint][] = [
    ['2023-11-14T22:13:20Z', 1_700_000_000n],
    ['2023-11-14 22:13:20', 1_700_000_000n],
    ['2023-11-14T22:13', 1_699_999_980n],
    ['2023-11-15T00:13:20+02:00', 1_700_000_000n],
    ['2023-11-15t00:13:20.000+0200', 1_700_000_000n],
    ['2023-11-14 22:13z', 1_699_999_980n],
    ['2023-11-14', 1_699_920_000n],
    ['1700000000', 1_700_000_000n],
    ['1700000000000', 1_700_000_000n],
    ['1700000000000000', 1_700_000_000n],
    ['1700000000000000000', 1_700_000_000n],
  ]
  test.each(times)('the time %s', (text, seconds) => {
    const [meaning] = meaningsOf(text).meanings
    expect(meaning).toEqual({ by: 'TIME', nanoseconds: seconds * 1_000_000_000n })
  })
})
