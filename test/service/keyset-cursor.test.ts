import { expect, test } from 'vitest'
import { keysetCursors } from '../../src/service/lists/keyset-cursor.ts'

const cursors = keysetCursors({ list: 'b', values: ['NUMBER', 'ADDRESS'] })

test('the longest cursor is decoded', () => {
  const position = [Number.MAX_SAFE_INTEGER, `0x${'ff'.repeat(348)}`] as const
  expect(cursors.decode(cursors.encode(position), 'after')).toEqual({ ok: true, value: position })
})

test('a text that is too long for a cursor is not decoded for each object of a page', () => {
  const text = Buffer.from('.'.repeat(750_000)).toString('base64url')
  const errors = Array.from({ length: 1_500 }, () => cursors.decode(text, 'after'))
  const malformed = { ok: false, error: { code: 'CURSOR_MALFORMED', argument: 'after' } }
  expect(errors.filter((one) => !one.ok)).toHaveLength(1_500)
  expect(errors[0]).toEqual(malformed)
})
