import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/help.ts'
import { present } from '../src/lib/assert.ts'
import { settings } from '../src/settings.ts'
import { graphql, socketClient } from './support/client.ts'
import { restJson } from './support/rest.ts'
import { startGateway, type TestGateway } from './support/start-gateway.ts'

/** What the README shows works: its examples are run, its table of settings is the program's own. */

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const examples = [...readme.matchAll(/```graphql\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
const [, restUrl = ''] = /curl http:\/\/127\.0\.0\.1:4000(\/\S+)/.exec(readme) ?? []

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

describe('the examples', () => {
  test('the query answers with the funds of address 0', async () => {
    const query = present(
      examples.find((example) => example.startsWith('query')),
      'the query',
    )
    const { data, errors } = await graphql(gateway.url, query)
    expect(errors).toBeUndefined()
    expect(data.address.updates.nodes).toMatchObject([
      { milestoneIndex: 0, isSpent: false },
      { milestoneIndex: 0, isSpent: false },
    ])
  })

  test('the subscription opens', async () => {
    const query = present(
      examples.find((example) => example.startsWith('subscription')),
      'the subscription',
    )
    const client = socketClient(gateway.url)
    const events = client.iterate({ query })[Symbol.asyncIterator]()
    const { value } = await events.next()
    expect(value).toMatchObject({ data: { ledgerUpdates: { __typename: 'FeedOpened' } } })
    await events.return?.()
    await client.dispose()
  })

  test('a block is inspected by the parameters of its network', async () => {
    const block = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].find(([text]) => {
      return text.includes('inspect')
    })
    const cwd = mkdtempSync(join(tmpdir(), 'ledger-gateway-readme-'))
    const script = present(block?.[1], 'the example')
      .replaceAll('http://127.0.0.1:4000', gateway.url)
      .replaceAll(/\w+\.json/g, (name) => join(cwd, name))
      .replace('npm run', `npm --prefix ${root} run`)
    // As in a shell, where the installed Node is the one that is found.
    const path = process.env.PATH?.split(delimiter).filter((folder) => !folder.endsWith('.bin'))
    const { stdout } = await promisify(execFile)('bash', ['-euc', `${script}\necho "$ID"`], {
      cwd,
      env: { ...process.env, PATH: path?.join(delimiter) },
    })
    const [id = ''] = stdout.trim().split('\n').slice(-1)
    expect(id).toMatch(/^0x[0-9a-f]{72}$/)
    expect(stdout).toContain(`  blockId: ${id}\n`)
    expect(stdout).toContain('problems: none\n')
    rmSync(cwd, { recursive: true })
  })

  test('the legacy route answers the same address', async () => {
    const { items } = await restJson(`${gateway.url}${restUrl}`)
    expect(items).toHaveLength(2)
  })
})

test('the table of settings names every setting and no other', () => {
  const named = [...readme.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1])
  const known = Object.values(settings).map(({ variable }) => variable)
  expect(named.sort()).toEqual(known.sort())
})

test('the table of commands names every command and no other', () => {
  const [, rows = ''] = /## Commands\n([\s\S]*?)\n## /.exec(readme) ?? []
  const table = rows.split('\n').slice(3).join('\n')
  const named = [...table.matchAll(/`([a-z-]+)`/g)].map((match) => match[1])
  expect(named.sort()).toEqual(commands.map(({ name }) => name).sort())
})

test('every command that it runs is one', () => {
  const run = [...readme.matchAll(/ledger-gateway (?:-- )?([a-z]+)/g)].map((match) => match[1])
  const known = commands.map(({ name }) => name)
  expect(new Set(run).size).toBeGreaterThan(3)
  for (const name of run) expect(known).toContain(name)
})

test('no command of the documents needs the Node that is installed', () => {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const texts = pages.map((name) => readFileSync(join(root, 'docs', name), 'utf8'))
  const blocks = [readme, ...texts].flatMap((text) => [
    ...[...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block),
    ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, line = '']) => line),
  ])
  expect(
    blocks.filter((block) => /\bnpm run (-s )?ledger-gateway -- /.test(block)).length,
  ).toBeGreaterThan(4)
  // The one that serves in production, where nothing brings a runtime.
  const production = 'node dist/entry.cjs serve'
  expect(blocks.filter((block) => /\bnode [\w./-]+\.[cm]?[jt]s\b/.test(block))).toEqual([
    production,
  ])
})
