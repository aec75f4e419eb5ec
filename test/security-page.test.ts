import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Every promise of docs/security.md names existing tests. */

const page = readFileSync(new URL('../docs/security.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Promises\n([\s\S]*?)^## /m.exec(page) ?? []
const promises = [...section.matchAll(/^\| (.+?) \| (.+) \|$/gm)].filter(
  ([, promise = '']) => !/^(promise|---)$/.test(promise),
)

/** Returns the tests of a cell. A file applies to all names that follow it. */
function testsOf(cell: string): readonly (readonly [file: string, name: string])[] {
  let file = ''
  const tests: [string, string][] = []
  for (const [, path, name] of cell.matchAll(/`([^`]+)`|\*([^*]+)\*/g)) {
    if (path !== undefined) file = path
    else if (name !== undefined) tests.push([file, name])
  }
  return tests
}

function exists(file: string, name: string): boolean {
  const url = new URL(`../${file}`, import.meta.url)
  return existsSync(url) && readFileSync(url, 'utf8').replaceAll('\\', '').includes(name)
}

test.each(promises.map(([, promise = '', cell = '']) => [promise, cell]))('%s', (_, cell) => {
  const tests = testsOf(cell)
  expect(tests).not.toEqual([])
  expect(tests.filter(([file, name]) => !exists(file, name))).toEqual([])
})

test('there are promises, and the check reports missing names', () => {
  expect(promises.length).toBeGreaterThan(15)
  expect(exists('test/api/auth.test.ts', 'whose permission is false')).toBe(true)
  expect(exists('test/api/auth.test.ts', 'whose permission is maybe')).toBe(false)
  expect(exists('test/api/no.test.ts', 'whose permission is false')).toBe(false)
})
