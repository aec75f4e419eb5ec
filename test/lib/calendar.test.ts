import { expect, test } from 'vitest'
import { parseMoment } from '../../src/lib/calendar.ts'

test.each([
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-11-22T08:30:00+02:00', '2026-11-22T06:30:00.000Z'],
  ['2026-11-22T23:59:59.999999999Z', '2026-11-22T23:59:59.999Z'],
])('%s is %s', (text, time) => expect(new Date(parseMoment(text)).toISOString()).toBe(time))

test.each([
  '2026-02-29',
  '2026-02-30',
  '2026-04-31T10:00:00Z',
  '2026-01-00',
  '2026-13-01',
  '2026-01-01T24:00:00Z',
  '2026-01-01T10:60:00Z',
  '2026-01-01T10:00:00',
  '22 Nov 2026',
  '',
])('"%s" is no moment', (text) => expect(parseMoment(text)).toBeNaN())
