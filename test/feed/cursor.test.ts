import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { confirmCursor, decodeCursor, encodeCursor, placeCursor } from '../../src/feed/cursor.ts'
import type { Hex } from '../../src/lib/hex.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const logIds = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((number): Hex => `0x${number.toString(16).padStart(16, '0')}`)
const branches = fc
  .bigInt({ min: 0n, max: 2n ** 48n - 1n })
  .map((number): Hex => `0x${number.toString(16).padStart(12, '0')}`)
const cursors = fc.record({ logId: logIds, seq: fc.maxSafeNat(), branch: branches })
const log = { logId: '0x0123456789abcdef', seq: 10, branch: '0xaabbccddeeff' } as const

describe('cursor text', () => {
  test('is decoded to the cursor from which it was encoded', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(decodeCursor(encodeCursor(cursor), 'after')).toEqual({ ok: true, value: cursor })
      }),
    )
  })

  test('equals the text that clients have stored', () => {
    expect(encodeCursor({ ...log, seq: 300 })).toBe('AgEjRWeJq83vAAAAAAAAASyqu8zd7v9AL_cX')
  })

  test('is rejected after a change of any character', () => {
    const everyChange = (text: string) =>
      [...text].flatMap((old, at) =>
        [...alphabet, '=', '+', '/', ' ', '\n', 'é']
          .filter((character) => character !== old)
          .map((character) => text.slice(0, at) + character + text.slice(at + 1)),
      )
    fc.assert(
      fc.property(cursors, (cursor) => {
        const accepted = everyChange(encodeCursor(cursor)).filter(
          (text) => decodeCursor(text, 'after').ok,
        )
        expect(accepted).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  test('of any other form is rejected without an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(decodeCursor(text, 'after')).toEqual({
          ok: false,
          error: { code: 'CURSOR_MALFORMED', argument: 'after' },
        })
      }),
    )
  })

  const malformed = [
    ['empty', ''],
    ['too short', 'AgEjRWeJq83vAAAAAAAAASyqu8zd7v8'],
    ['of version 1, which was bound to no history', 'AQEjRWeJq83vAAAAAAAAASyjPETm'],
    ['too long', `${encodeCursor(log)}A`],
    ['a newline after it', `${encodeCursor(log)}\n`],
    ['a seq above 2^53 - 1', rechecked('AgEjRWeJq83vACAAAAAAAACqu8zd7v8AAAAA')],
    ['another version', rechecked('AwEjRWeJq83vAAAAAAAAASyqu8zd7v8AAAAA')],
  ] as const
  test.each(malformed)('malformed - %s', (_name, text) => {
    expect(codeOf(decodeCursor(text, 'after'))).toBe('CURSOR_MALFORMED')
  })
})

describe('cursor against a log (5)', () => {
  const other = '0xaabbccddeefe'
  const rows = [
    ['ok - the newest pruned row', { ...log, seq: 2 }, undefined],
    ['fail - a position below the newest pruned row', { ...log, seq: 1 }, 'CURSOR_EXPIRED'],
    ['ok - the newest row', log, undefined],
    ['fail - ahead of the tip', { ...log, seq: 11 }, 'CURSOR_AHEAD_OF_TIP'],
    ['fail - another log', { ...log, logId: '0x0123456789abcdee' }, 'CURSOR_OF_ANOTHER_LOG'],
    ['fail - another branch', { ...log, branch: other }, 'CURSOR_OF_ANOTHER_LOG'],
    ['fail - another branch, pruned', { ...log, seq: 1, branch: other }, 'CURSOR_OF_ANOTHER_LOG'],
  ] as const
  const bounds = { ...log, prunedSeq: 2, prunedBranch: log.branch, mayLag: true }
  test.each(rows)('%s', (_name, cursor, code) => {
    const place = placeCursor(encodeCursor(cursor), 'before', bounds)
    const position = place.ok ? confirmCursor(place.value, log.branch, 'before', bounds) : place
    expect(codeOf(position)).toBe(code)
    if (position.ok) expect(position.value).toEqual({ seq: cursor.seq, branch: cursor.branch })
  })

  test('fail - ahead of the tip if no other process can know more: the log was rewound', () => {
    const ahead = encodeCursor({ ...log, seq: 11 })
    const place = placeCursor(ahead, 'before', { ...bounds, mayLag: false })
    expect(codeOf(place)).toBe('CURSOR_OF_ANOTHER_LOG')
  })
})

/** Returns the same bytes with a correct checksum, so that only the tested fault is left. */
function rechecked(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 23)), 23)
  return bytes.toString('base64url')
}

/** Computes the checksum bit by bit, independently of the table in the source. */
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
