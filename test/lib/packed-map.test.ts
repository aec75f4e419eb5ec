import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { createPackedBytes, maxPackedLength } from '../../src/lib/packed-bytes.ts'
import { createPackedMap } from '../../src/lib/packed-map.ts'

const numberOf = (n: number, digits: number) => n.toString(16).padStart(digits, '0')

test.each([0, 10, undefined])('holds what a map holds, with at most %s texts', (maxTexts) => {
  // Keys of several lengths, of which some begin with others.
  const key = fc
    .tuple(fc.nat(400), fc.constantFrom(4, 6, 76, 142, 510, 512, 770))
    .map(([n, digits]): Hex => `0x${numberOf(n, digits)}`)
  const step = fc.tuple(key, fc.bigInt(0n, 2n ** 63n - 1n))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 800, size: 'max' }), (steps) => {
      const packed = createPackedMap(maxTexts)
      const plain = new Map<Hex, bigint>()
      for (const [text, value] of steps) {
        expect(packed.get(text)).toBe(plain.get(text))
        packed.set(text, value)
        plain.set(text, value)
      }
      for (const [text, value] of plain) expect(packed.get(text)).toBe(value)
      expect(packed.get('0x')).toBe(undefined)
    }),
    { numRuns: 20 },
  )
})

test('holds more keys than its first arrays', () => {
  const packed = createPackedMap()
  const keys = Array.from({ length: 30_000 }, (_, n): Hex => `0x${numberOf(n, 76)}`)
  for (const [n, key] of keys.entries()) packed.set(key, BigInt(n))
  for (const [n, key] of keys.entries()) expect(packed.get(key)).toBe(BigInt(n))
})

test('byte strings come back in order and from their places', () => {
  const packed = createPackedBytes()
  const texts = Array.from({ length: 5_000 }, (_, n): Hex => `0x${numberOf(n, 2 * (n % 400) + 8)}`)
  const places = texts.map((text) => packed.add(Buffer.from(text.slice(2), 'hex')))
  expect([...packed].map(bytesToHex)).toEqual(texts)
  expect(places.map((place) => bytesToHex(packed.at(place)))).toEqual(texts)
})

test('a byte string that is too long is refused, and never found', () => {
  const key = (byte: string): Hex => `0x${'00'.repeat(maxPackedLength)}${byte}`
  const packed = createPackedMap(0)
  packed.set(`0x${'00'.repeat(maxPackedLength)}`, 1n)
  expect(packed.get(key('01'))).toBe(undefined)
  expect(() => packed.set(key('01'), 2n)).toThrow('packed bytes are short')
})
