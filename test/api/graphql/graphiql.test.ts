import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { graphql, socketClient } from '../../support/client.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { untilHealth } from '../../support/wallet.ts'

/** The page that a browser gets, read for everything that could load from another host. */

// biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
type Data = any

let gateway: TestGateway
let page = ''
let policy: readonly string[] = []

beforeAll(async () => {
  gateway = await startGateway({ env: { EXPLORER: 'off' } })
  const response = await getPage()
  policy = (response.headers.get('content-security-policy') ?? '').split('; ')
  page = await response.text()
})
afterAll(() => gateway.close())

test('it is GraphiQL, and it speaks to its own host', () => {
  expect(page).toMatch(/^<!doctype html>/)
  expect(page).toContain('YogaGraphiQL.renderYogaGraphiQL(')
  expect(page).toContain('"subscriptionsProtocol":"WS"')
  expect(page).not.toContain('"endpoint"')
})

describe('nothing is of another host', () => {
  // What stands before the script are the elements the browser reads; what is in it are texts that it may run.
  const elements = () => page.slice(0, page.indexOf('<script>'))

  test('no element names an address but the icon, which is in the page', () => {
    const addresses = [
      ...elements().matchAll(/\s(?:src|href|srcset)\s*=\s*["']?([^"'\s>]{0,40})/gi),
    ]
    expect(addresses.map(([, address]) => address?.slice(0, 11))).toEqual(['data:image/'])
  })

  test('one script, inline; its text ends where its element does', () => {
    expect(page.match(/^\s*<script\b[^>]*>$/gm)?.map((tag) => tag.trim())).toEqual(['<script>'])
  })

  test('no style, font or image by url() but those in the page', () => {
    const targets = [...page.matchAll(/url\(\s*\\?["']?([^)"'\\]{0,40})/g)].map(
      ([, target]) => target ?? '',
    )
    expect(targets.length).toBeGreaterThan(40)
    expect(targets.filter((target) => /^(?:https?:)?\/\//.test(target))).toEqual([])
    expect(elements().match(/@import/g)).toBeNull()
  })

  const loaders = [
    ['worker', /new (?:Shared)?Worker\(\s*\\?["'`]/g],
    ['script of a worker', /importScripts\(\s*\\?["'`]/g],
    ['module', /\bimport\(\s*\\?["'`](?:https?:)?\/\//g],
    ['public copy of packages', /unpkg|jsdelivr|esm\.sh|cdnjs|googleapis|gstatic|skypack/g],
  ] as const
  test.each(loaders)('no %s by address', (_name, loader) => {
    expect(page.match(loader)).toBeNull()
  })

  test('and the browser is told to load nothing else', () => {
    expect(policy).toContain("default-src 'none'")
    const sources = policy.flatMap((directive) => directive.split(' ').slice(1))
    const harmless = ["'none'", "'self'", "'unsafe-inline'", 'blob:', 'data:']
    expect(sources.filter((source) => !harmless.includes(source))).toEqual([])
  })
})

describe('its tabs run at once on the network:', () => {
  const tabs = () => {
    const [, options] = /\)\((\{"title".*\})\),?$/m.exec(page) ?? []
    return JSON.parse(present(options, 'the options of the page')).defaultTabs as readonly {
      readonly query: string
      readonly variables: string
    }[]
  }
  const tab = (operation: string) => {
    const { query, variables } = present(
      tabs().find((one) => one.query.includes(operation)),
      operation,
    )
    return { query, variables: variables === '' ? {} : JSON.parse(variables) }
  }

  test('all five, and the first without variables, which GraphiQL would not show', () => {
    expect(
      tabs().map(({ query }) => /^(?:query|mutation|subscription) \w+/m.exec(query)?.[0]),
    ).toEqual([
      'query UpdatesPage',
      'subscription Feed',
      'mutation SubmitPayload',
      'query Address',
      'query TimeSeries',
    ])
    expect(tabs()[0]?.variables).toBe('')
  })

  const rows = [
    ['query UpdatesPage', ({ ledgerUpdates }: Data) => ledgerUpdates.nodes.length],
    ['mutation SubmitPayload', ({ submitBlock }: Data) => submitBlock.blockId.length],
    ['query Address', ({ address }: Data) => Number(address.balance.total)],
    ['query TimeSeries', ({ activity }: Data) => activity.length],
  ] as const
  test.each(rows)('%s', async (operation, sizeOf) => {
    await untilHealth(gateway.url)
    const { query, variables } = tab(operation)
    const { data, errors } = await graphql(gateway.url, query, variables)
    expect(errors).toBeUndefined()
    expect(sizeOf(data)).toBeGreaterThan(0)
  })

  test('subscription Feed', async () => {
    const client = socketClient(gateway.url)
    const results = client.iterate(tab('subscription Feed'))
    const { value } = await results.next()
    expect(value.data.ledgerUpdates.__typename).toBe('FeedOpened')
    await client.dispose()
  })
})

test('it is sent compressed to those who take it', async () => {
  for (const [accepted, coding] of [
    ['gzip, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const answer = await getPage(accepted)
    expect(answer.headers.get('content-encoding')).toBe(coding)
    // Fetch has undone the compression; the length on the wire is what the header says.
    const length = Number(answer.headers.get('content-length'))
    if (coding !== null) expect(length).toBeLessThan(page.length / 2)
    expect(await answer.text()).toBe(page)
  }
})

test('without the explorer the root leads to it, whatever path a proxy put in front', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const response = await fetch(gateway.url, { headers, redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([302, 'graphql'])
  expect(await (await fetch(gateway.url, { headers })).text()).toBe(page)
})

test('a program that asks the same path gets no page', async () => {
  const response = await fetch(`${gateway.url}/graphql?query=%7B__typename%7D`)
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } })
})

function getPage(encoding = 'identity'): Promise<Response> {
  return fetch(`${gateway.url}/graphql`, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-encoding': encoding },
  })
}
