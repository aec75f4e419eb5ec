import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from '../../src/client/sha256.ts'

test('hashes bytes of any length like SHA-256 of Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(hash('sha256', bytes))
    }),
  )
  for (const length of [0, 55, 56, 63, 64, 119, 120]) {
    const bytes = new Uint8Array(length).fill(0xa5)
    expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(hash('sha256', bytes))
  }
})
