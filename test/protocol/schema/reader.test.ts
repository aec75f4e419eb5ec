import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Reader } from '../../../src/protocol/schema/reader.ts'
import { Malformed } from '../../../src/protocol/schema/refusal.ts'

describe('a reader', () => {
  test('reads bytes of any length as text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(5), (bytes, before) => {
        const reader = new Reader(Uint8Array.of(...new Uint8Array(before), ...bytes))
        reader.at = before
        expect(reader.hex(bytes.length)).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
        expect(reader.at).toBe(reader.end)
      }),
    )
  })

  test('reads numbers of 256 bits', () => {
    const any = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    fc.assert(
      fc.property(fc.tuple(any, fc.nat(256)), ([number, bits]) => {
        const value = BigInt.asUintN(bits, number)
        const bytes = Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
        expect(new Reader(bytes).u256()).toBe(value)
      }),
    )
  })

  const reads = [
    ['u8', 1],
    ['u16', 2],
    ['u32', 4],
    ['u64', 8],
    ['u256', 32],
  ] as const
  test.each(reads)('never reads beyond the end with %s', (read, size) => {
    const reader = new Reader(new Uint8Array(size + 1))
    reader.at = 2
    expect(() => reader[read]()).toThrow(expect.any(Malformed))
    expect(reader.at).toBe(2)
  })
})
