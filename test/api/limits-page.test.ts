import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { limitsOf } from '../../src/api/limit-list.ts'
import { defaultLimits } from '../../src/api/limits.ts'
import { limitsPage, limitTests } from '../support/limits-page.ts'

const root = new URL('../../', import.meta.url)

describe('docs/limits.md', () => {
  test('matches the limits and their tests; otherwise run npm run reference', () =>
    expect(readFileSync(new URL('docs/limits.md', root), 'utf8')).toBe(limitsPage()))

  test('names a test for each limit, and no other', () =>
    expect(Object.keys(limitTests).sort()).toEqual(
      limitsOf(defaultLimits)
        .map(({ name }) => name)
        .sort(),
    ))

  test.each(Object.entries(limitTests))('names an existing test for %s', (_name, [file, name]) => {
    const text = readFileSync(new URL(`test/${file}`, root), 'utf8')
    // The name of a test, of its row, or the key of a table of rows.
    const named = [`'${name}'`, `\n  ${name}: `]
    expect(named.filter((one) => text.includes(one))).toHaveLength(1)
  })
})
