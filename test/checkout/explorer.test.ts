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

/** The build of the explorer in a fresh checkout. */

const checkout = fileURLToPath(new URL('../..', import.meta.url))
let root = ''
const messages: string[] = []

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'ledger-gateway-explorer-'))
  mkdirSync(join(root, 'dist'))
  for (const name of ['src', 'docs', 'schema.graphql', 'package.json', 'node_modules']) {
    symlinkSync(join(checkout, name), join(root, name))
  }
})
afterAll(() => rmSync(root, { recursive: true }))

test('the explorer is built if it is missing, and not a second time', async () => {
  const built = { root, say: (text: string) => void messages.push(text) }
  await buildExplorer(built)
  expect(messages[0]).toContain('Building the explorer')
  const page = join(root, 'dist/explorer/index.html')
  expect(existsSync(page)).toBe(true)
  expect(readdirSync(join(root, 'dist'))).toEqual(['explorer'])
  messages.length = 0
  await buildExplorer(built)
  expect(messages).toEqual([])
})

test('the page has no inline scripts or styles, and every file has compressed forms', () => {
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
