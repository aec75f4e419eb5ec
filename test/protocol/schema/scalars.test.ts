import { expect, test } from 'vitest'
import { uint } from '../../../src/protocol/schema/scalars.ts'
import { parse } from '../../../src/protocol/schema/schema.ts'

const rows: readonly (readonly [text: string, value: number | 'JSON_NUMBER'])[] = [
  ['0', 0],
  ['255', 255],
  ['2.55e2', 255],
  ['-0', 'JSON_NUMBER'],
  ['-1', 'JSON_NUMBER'],
  ['256', 'JSON_NUMBER'],
  ['0.5', 'JSON_NUMBER'],
  ['1e400', 'JSON_NUMBER'],
  ['"1"', 'JSON_NUMBER'],
  ['null', 'JSON_NUMBER'],
]

test.each(rows)('the JSON %s is read as an 8-bit integer, or rejected', (text, expected) => {
  const parsed = parse(uint('U8', 8), JSON.parse(text))
  expect(parsed.ok ? parsed.value : parsed.error.code).toBe(expected)
})
