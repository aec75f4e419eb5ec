import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildExplorer } from '../support/build-explorer.ts'

/** The explorer as a fresh checkout builds it. */

const checkout = fileURLToPath(new URL('../..', import.meta.url))
let root = ''
const said: string[] = []

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'ledger-gateway-explorer-'))
  mkdirSync(join(root, 'dist'))
  for (const name of ['src', 'docs', 'schema.graphql', 'package.json', 'node_modules']) {
    symlinkSync(join(checkout, name), join(root, name))
  }
})
afterAll(() => rmSync(root, { recursive: true }))

test('it is built where it is missing, and then left as it is', async () => {
  const built = { root, say: (text: string) => void said.push(text) }
  await buildExplorer(built)
  expect(said[0]).toContain('Building the explorer')
  const page = join(root, 'dist/explorer/index.html')
  expect(existsSync(page)).toBe(true)
  expect(readdirSync(join(root, 'dist'))).toEqual(['explorer'])
  said.length = 0
  await buildExplorer(built)
  expect(said).toEqual([])
})

test('the page has no script and no style of its own, and every file beside its compressed forms', () => {
  const folder = join(root, 'dist/explorer')
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const scripts = [...html.matchAll(/<script([^>]*)>([^<]*)/g)]
  expect(scripts).toHaveLength(2)
  for (const [, attributes, text] of scripts) {
    expect([attributes?.includes(' src="./explorer/'), text]).toEqual([true, ''])
  }
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:/)
  const names = readdirSync(join(folder, 'explorer'))
  const plain = names.filter((name) => !/\.(br|gz)$/.test(name))
  expect(plain.length).toBeGreaterThan(10)
  expect(plain.filter((name) => !/-[\w-]{8}\.\w+$/.test(name))).toEqual([])
  const forms = plain.flatMap((name) => [name, `${name}.br`, `${name}.gz`])
  expect(names.sort()).toEqual(forms.sort())
})
