import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { decodeBech32, encodeBech32, isMultiReference } from '../../src/protocol/bech32.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface Bech32Vector extends Vector {
  readonly text: string
  readonly hrp?: string
  readonly reference?: Hex
  readonly expect: { readonly parse: 'accept' | 'reject' | 'either' | 'reference' }
}

interface AddressVector extends Vector {
  readonly bytes: Hex
  /** Of a multi address: the bytes that its texts hold. */
  readonly reference?: Hex
  /** Text by human-readable part. */
  readonly bech32: Readonly<Record<string, string>>
}

const vectors = loadVectors<Bech32Vector>('bech32')

function decoded(text: string) {
  const result = decodeBech32(text)
  if (!result.ok) throw new Error(result.error.code)
  return result.value
}

describe('well-formed texts', () => {
  const wellFormed = vectors.filter(({ hrp }) => hrp !== undefined)
  test.each(wellFormed)('$name', ({ text, hrp, reference }) => {
    const { hrp: prefix, bytes } = decoded(text)
    expect(prefix).toBe(hrp)
    expect(encodeBech32(prefix, bytes)).toBe(text.toLowerCase())
    expect(isMultiReference(bytes)).toBe(reference !== undefined)
    if (reference !== undefined) expect(bytesToHex(bytes)).toBe(reference)
  })
})

describe('malformed texts', () => {
  const rows = [
    ['bech32/mixed-case', 'BECH32_CASE_MIXED'],
    ['bech32/wrong-checksum', 'BECH32_CHECKSUM_WRONG'],
    ['bech32/changed-character', 'BECH32_CHECKSUM_WRONG'],
    ['bech32/other-prefix-same-data', 'BECH32_CHECKSUM_WRONG'],
    ['bech32/bech32m-checksum', 'BECH32_CHECKSUM_WRONG'],
    ['bech32/non-zero-padding', 'BECH32_PADDING_WRONG'],
    ['bech32/no-separator', 'BECH32_SEPARATOR_MISSING'],
    ['bech32/no-prefix', 'BECH32_SEPARATOR_MISSING'],
    ['bech32/empty', 'BECH32_SEPARATOR_MISSING'],
    ['bech32/bad-character-b', 'BECH32_CHARACTER_UNKNOWN'],
  ] as const
  test.each(rows)('%s are rejected', (name, code) => {
    const text = vectors.find((vector) => vector.name === name)?.text ?? 'no such vector'
    expect(decodeBech32(text)).toMatchObject({ ok: false, error: { code } })
  })

  test('beyond the limit are rejected', () => {
    expect(decodeBech32(`rms1${'q'.repeat(1000)}`)).toEqual({
      ok: false,
      error: { code: 'BECH32_TOO_LONG', length: 1004, limit: 1000 },
    })
  })

  test('are rejected with the position of the character', () => {
    expect(decodeBech32('rms1qqb')).toMatchObject({ error: { character: 'b', at: 6 } })
    expect(decodeBech32('r ms1qq')).toMatchObject({ error: { character: ' ', at: 1 } })
  })

  test('of any characters never throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void decodeBech32(text)))
  })
})

describe('addresses of every kind', () => {
  test.each(loadVectors<AddressVector>('addresses'))('$name', (vector) => {
    const bytes = vector.reference ?? vector.bytes
    for (const [hrp, text] of Object.entries(vector.bech32)) {
      expect(encodeBech32(hrp, hexToBytes(bytes))).toBe(text)
      expect(bytesToHex(decoded(text).bytes)).toBe(bytes)
    }
  })
})
