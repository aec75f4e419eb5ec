import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/** Checks that every guarantee of docs/feed.md names existing tests that cite its number. */

const document = readFileSync(new URL('../../docs/feed.md', import.meta.url), 'utf8')
const guarantees = document
  .split(/^(?=\d+\. \*\*|## )/m)
  .filter((part) => /^\d/.test(part))
  .map((part) => ({
    number: Number.parseInt(part, 10),
    files: [...part.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path),
  }))

test('guarantees are numbered without a gap', () => {
  expect(guarantees.length).toBeGreaterThan(0)
  expect(guarantees.map(({ number }) => number)).toEqual(guarantees.map((_, i) => i + 1))
})

describe.each(guarantees)('guarantee $number', ({ number, files }) => {
  test('names a test', () => expect(files).not.toEqual([]))

  test.each(files)('is cited by %s', (path) => {
    const file = path.endsWith('.ts') ? path : `${path}/torture.test.ts`
    const url = new URL(`../../${file}`, import.meta.url)
    expect(existsSync(url), file).toBe(true)
    const cited = [...readFileSync(url, 'utf8').matchAll(/\((\d+(?:, \d+)*)\)'/g)]
    expect(cited.flatMap(([, numbers = '']) => numbers.split(', ').map(Number))).toContain(number)
  })
})
