import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Every file and every function that `docs/architecture.md` names exists. A function belongs to the file named before it. */

const page = readFileSync('docs/architecture.md', 'utf8')
const named = Array.from(page.matchAll(/`([^`\n]+)`/g), ([, text = '']) => text)

test('the files and folders that the page names exist', () => {
  const paths = named.filter((name) => /^(src|test|docs|prisma)\//.test(name))
  expect(paths.length).toBeGreaterThan(40)
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

test('the functions that the page names are declared in the file named before them', () => {
  const missing: string[] = []
  let functions = 0
  let file = ''
  for (const name of named) {
    if (/^src\/.*\.ts$/.test(name)) file = name
    const [, declared] = /^(\w+)\(\)$/.exec(name) ?? []
    if (declared === undefined) continue
    functions++
    if (!declares(file, declared)) missing.push(`${file} ${declared}()`)
  }
  expect(functions).toBeGreaterThan(40)
  expect(missing).toEqual([])
})

test('the check reports a missing function', () => {
  expect(declares('src/feed/wake.ts', 'createWake')).toBe(true)
  expect(declares('src/feed/wake.ts', 'createBell')).toBe(false)
})

/** Returns whether a file declares a function, a constant or a method of an interface with this name. */
function declares(file: string, name: string): boolean {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return new RegExp(
    `\\bfunction\\*? ${name}\\b|\\bconst ${name}\\b|^  (readonly )?${name}[(:]`,
    'm',
  ).test(text)
}

test('test/README.md lists exactly the existing helpers', () => {
  const [, helpers = ''] = readFileSync('test/README.md', 'utf8').split('## Helpers')
  const rows = helpers.split('\n').map((line) => line.split('|')[1] ?? '')
  const listed = rows.flatMap((cell) => Array.from(cell.matchAll(/`([a-z-]+)`/g), ([, one]) => one))
  const files = readdirSync('test/support').filter((file) => !file.endsWith('.test.ts'))
  const helpersThere = files.map((file) => file.replace(/\.ts$/, ''))
  expect(listed.filter((one) => one !== 'support').sort()).toEqual(helpersThere.sort())
})
