import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../../src/api/rest/routes.ts'
import { present } from '../../../src/lib/assert.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { untilHealth } from '../../support/wallet.ts'

/** The examples of docs/rest.md are run, and its tables have every route and no other. */

const handbook = readFileSync(new URL('../../../docs/rest.md', import.meta.url), 'utf8')
const blocks = [...handbook.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
const lines = blocks.flatMap((block) => block.trim().split('\n'))

test('the tables of docs/rest.md name every route and no other', () => {
  const named = [...handbook.matchAll(/^\| `((?:GET|POST) \S+)` \|/gm)].map((match) => match[1])
  const known = routes.map(({ method, path }) => `${method} ${path}`)
  expect(named.sort()).toEqual(known.sort())
})

describe('the examples of docs/rest.md', () => {
  let gateway: TestGateway
  let variables: ReadonlyMap<string, string>
  beforeAll(async () => {
    gateway = await startGateway()
    await untilHealth(gateway.url)
    const set = lines.flatMap((line) => [/^([A-Z]+)=(\w+)$/.exec(line) ?? []])
    variables = new Map([
      ...set.map(([, name = '', value = '']) => [name, value] as const),
      ['GATEWAY', gateway.url],
      ['TOKEN', await gateway.token('chain-record:write')],
    ])
  })
  afterAll(() => gateway.close())

  const examples = lines.filter((line) => line.startsWith('curl '))
  test.each(examples)('%s', async (line) => {
    const [command = '', status] = line.split(/\s+# (?=\d{3}: )/)
    const { url, ...init } = readCurl(wordsOf(command, variables))
    const response = await rest(url, init)
    if (status === undefined) expect(response.ok).toBe(true)
    else {
      const { error } = await response.json()
      expect(`${error.code}: ${error.message}`).toContain(status)
    }
  })
})

/** Splits a line as a shell does. */
function wordsOf(line: string, variables: ReadonlyMap<string, string>): readonly string[] {
  const words = line.matchAll(/'([^']*)'|"((?:\\"|[^"])*)"|(\S+)/g)
  return [...words].map(([, literal, quoted, bare]) => {
    if (literal !== undefined) return literal
    const text = (quoted ?? bare ?? '').replaceAll('\\"', '"')
    return text.replace(/\$([A-Z]+)/g, (_, name) => present(variables.get(name), name))
  })
}

/** Returns the request that curl sends. */
function readCurl([, ...words]: readonly string[]): RequestInit & { url: string } {
  const headers: Record<string, string> = {}
  let url = ''
  let method = 'GET'
  let body: string | undefined
  for (let at = 0; at < words.length; at++) {
    const word = present(words[at], 'a word')
    const next = words[at + 1] ?? ''
    if (word === '-i') continue
    if (word === '-I') method = 'HEAD'
    else if (!word.startsWith('-')) url = word
    else {
      at++
      if (word === '-X') method = next
      else if (word === '-d') body = next
      else if (word === '-H') headers[next.split(': ')[0] ?? ''] = next.replace(/^[^:]*: /, '')
      else if (word !== '--output')
        throw new Error(`this test does not support the option ${word} of curl`)
    }
  }
  return { url, method, headers, ...(body !== undefined && { body }) }
}
