import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { Address } from '../../src/protocol/addresses.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { encode, parse } from '../../src/protocol/schema/schema.ts'
import { addressKey, addressKeyOf } from '../../src/service/addresses/address-key.ts'
import { unwrap } from '../support/log-store.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface Bech32Vector extends Vector {
  readonly text: string
  readonly expect: { readonly parse: 'accept' | 'reject' | 'either' | 'reference' }
  readonly hrp?: string
  readonly address?: unknown
  readonly reference?: Hex
  readonly oracle?: { readonly go?: string }
}

const vectors = loadVectors<Bech32Vector>('bech32')
const withVerdict = (verdict: Bech32Vector['expect']['parse']) =>
  vectors.filter((vector) => vector.expect.parse === verdict)

describe('addressKey', () => {
  test.each(withVerdict('accept'))('$name', ({ text, hrp, address }) => {
    const key = bytesToHex(encode(Address, unwrap(parse(Address, address))))
    expect(addressKey(text, 'address')).toEqual({ ok: true, value: { hrp, key } })
  })

  test.each(withVerdict('reference'))('$name', ({ text, hrp, reference }) => {
    expect(addressKey(text, 'address')).toEqual({ ok: true, value: { hrp, key: reference } })
  })

  // The profile of programs that show a ledger (codec reference 19, row 4): such an address may own outputs.
  const rejectedOnlyBySdk = withVerdict('reject').filter(({ oracle }) => oracle?.go === 'accept')

  test.each(rejectedOnlyBySdk)('$name is accepted, because nodes accept it', ({ text }) => {
    const { hrp, key } = unwrap(addressKey(text, 'address'))
    expect(encodeBech32(hrp, hexToBytes(key))).toBe(text)
  })

  const rejectedByAll = withVerdict('reject').filter(
    (vector) => !rejectedOnlyBySdk.includes(vector),
  )

  test.each(rejectedByAll)('$name', ({ text }) => {
    expect(addressKey(text, 'address')).toMatchObject({
      ok: false,
      error: { code: 'ADDRESS_MALFORMED', argument: 'address' },
    })
  })

  test.each(withVerdict('reference'))(
    '$name - the full multi address has the same key',
    (vector) => {
      const whole = encode(Address, unwrap(parse(Address, vector.address)))
      const text = encodeBech32('tst', whole)
      expect(unwrap(addressKey(text, 'address')).key).toBe(vector.reference)
    },
  )
})

describe('addressKeyOf', () => {
  const text = encodeBech32('iota', hexToBytes(`0x00${'a1'.repeat(32)}`))

  test('returns its key', () => {
    expect(addressKeyOf('iota', text, 'address')).toEqual({
      ok: true,
      value: `0x00${'a1'.repeat(32)}`,
    })
  })

  test('rejects an address of another network', () => {
    expect(addressKeyOf('tst', text, 'addresses.3')).toEqual({
      ok: false,
      error: {
        code: 'ADDRESS_OF_ANOTHER_NETWORK',
        argument: 'addresses.3',
        hrp: 'iota',
        expected: 'tst',
      },
    })
  })
})
