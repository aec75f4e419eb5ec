import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkCursor, decodeCursor, encodeCursor } from '../../src/feed/cursor.ts'
import type { Hex } from '../../src/lib/hex.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const epochs = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((number): Hex => `0x${number.toString(16).padStart(16, '0')}`)
const cursors = fc.record({ epoch: epochs, seq: fc.maxSafeNat() })
const log = { epoch: '0x0123456789abcdef', seq: 10 } as const

describe('cursor text', () => {
  test('comes back as it went', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(decodeCursor(encodeCursor(cursor), 'after')).toEqual({ ok: true, value: cursor })
      }),
    )
  })

  test('is the text that clients already keep', () => {
    expect(encodeCursor({ epoch: '0x0123456789abcdef', seq: 300 })).toBe(
      'AQEjRWeJq83vAAAAAAAAASyjPETm',
    )
  })

  test('refuses every change of one character', () => {
    const everyChange = (text: string) =>
      [...text].flatMap((old, at) =>
        [...alphabet, '=', '+', '/', ' ', '\n', 'é']
          .filter((character) => character !== old)
          .map((character) => text.slice(0, at) + character + text.slice(at + 1)),
      )
    fc.assert(
      fc.property(cursors, (cursor) => {
        const taken = everyChange(encodeCursor(cursor)).filter(
          (text) => decodeCursor(text, 'after').ok,
        )
        expect(taken).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(decodeCursor(text, 'after')).toEqual({
          ok: false,
          error: { code: 'CURSOR_MALFORMED', argument: 'after' },
        })
      }),
    )
  })

  const refused = [
    ['empty', ''],
    ['too short', 'AQEjRWeJq83vAAAAAAAAASw'],
    ['too long', `${encodeCursor(log)}A`],
    ['a newline behind it', `${encodeCursor(log)}\n`],
    ['a seq above 2^53 - 1', rechecked('AQEjRWeJq83vACAAAAAAAAAAAAAA')],
    ['another version', rechecked('AgEjRWeJq83vAAAAAAAAASwAAAAA')],
  ] as const
  test.each(refused)('malformed - %s', (_name, text) => {
    expect(codeOf(decodeCursor(text, 'after'))).toBe('CURSOR_MALFORMED')
  })
})

describe('cursor against a log (5)', () => {
  const rows = [
    ['ok - the last row that is no longer kept', { ...log, seq: 2 }, undefined],
    ['fail - below it', { ...log, seq: 1 }, 'CURSOR_EXPIRED'],
    ['ok - the newest row', log, undefined],
    ['fail - ahead of the tip', { ...log, seq: 11 }, 'CURSOR_AHEAD_OF_TIP'],
    ['fail - another log', { ...log, epoch: '0x0123456789abcdee' }, 'CURSOR_OF_ANOTHER_LOG'],
  ] as const
  test.each(rows)('%s', (_name, cursor, code) => {
    const position = checkCursor(encodeCursor(cursor), 'before', { ...log, prunedSeq: 2 })
    expect(codeOf(position)).toBe(code)
    if (position.ok) expect(position.value).toBe(cursor.seq)
  })
})

/** The same bytes with a right check, so that only the reason under test is left. */
function rechecked(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 17)), 17)
  return bytes.toString('base64url')
}

/** Bit by bit, written apart from the table of the source. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function codeOf(result: { ok: boolean; error?: { code: string } }): string | undefined {
  return result.error?.code
}
