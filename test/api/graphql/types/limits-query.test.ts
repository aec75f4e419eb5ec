import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { limitsOf } from '../../../../src/api/limit-list.ts'
import { defaultLimits } from '../../../../src/api/limits.ts'
import { maxHits } from '../../../../src/service/search/look-up.ts'
import { maxPageSize } from '../../../../src/service/updates/list-ledger-updates.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { addresses } from '../../../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../../../support/serve-log.ts'
import { entry } from '../../../support/store-rows.ts'

/** The query `limits` returns the values that are applied. */

interface Limit {
  readonly name: string
  readonly value: string
  readonly unit: string
  readonly meaning: string
  readonly error: string | null
  readonly setting: string | null
}

const page = readFileSync('docs/graphql.md', 'utf8')

let served: ServedLog
let limitByName: ReadonlyMap<string, Limit>

beforeAll(async () => {
  served = await serveLog({ limits: { connections: 7, subscriptionsPerConnection: 3 } })
  const document = '{ limits { name value unit meaning error setting } }'
  const { data } = await askBothWays(served.url, document)
  limitByName = new Map(data.limits.map((limit: Limit) => [limit.name, limit]))
})
afterAll(() => served.close())

const address = addressText(addresses[0] ?? '0x')
const times = (count: number, one: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => one(n)).join(' ')

/** Documents at the limit; a document one larger is refused. */
const atLimit: Readonly<Record<string, (value: number) => string>> = {
  documentDepth: (value) => `${'{ a '.repeat(value)}${'}'.repeat(value)}`,
  documentLines: (value) => `{ __typename${'\n'.repeat(value - 1)}}`,
  nameCharacters: (value) => `{ ${'a'.repeat(value)}: __typename }`,
  aliases: (value) => `{ ${times(value, (n) => `a${n}: __typename`)} }`,
  directives: (value) => `{ ${times(value, () => '__typename @include(if: true)')} }`,
  variables: (value) => `query (${times(value, (n) => `$v${n}: Int`)}) { __typename }`,
  pageSize: (value) => `{ ledgerUpdates(address: "${address}", first: ${value}) { totalCount } }`,
  bodyBytes: (value) => {
    const rest = '{ __typename }'
    const frame = JSON.stringify({ query: rest }).length
    return `${rest}${' '.repeat(value - frame)}`
  },
}

async function codesOf(query: string): Promise<readonly unknown[]> {
  const response = await fetch(`${served.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { errors = [] } = (await response.json()) as Awaited<ReturnType<ServedLog['ask']>>
  return errors.map(({ extensions }) => extensions.code)
}

describe('limits', () => {
  test.each(Object.keys(atLimit))(
    '%s has the greatest value that is accepted, and the error of a greater one',
    async (name) => {
      const { value, error } = limitByName.get(name) ?? { value: '0', error: null }
      const make = atLimit[name]
      expect(await codesOf(make?.(Number(value)) ?? '')).not.toContain(error)
      expect(await codesOf(make?.(Number(value) + 1) ?? '')).toContain(error)
    },
  )

  test('of the values of a body apply on every transport', async () => {
    const { value, error } = limitByName.get('bodyValues') ?? { value: '0' }
    // The body, the document, the object of variables and the list are values too. Commas in texts are none.
    const bodyOf = (count: number) => {
      const list = Array.from({ length: count - 4 }, (_, n) => (n === 0 ? '[,{'.repeat(99) : n))
      return { query: '{ __typename }', variables: { list } }
    }
    const send = async (body: object, headers: Record<string, string>) => {
      const response = await fetch(`${served.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return [response.status, await response.text()]
    }
    for (const headers of [
      {},
      { accept: 'application/json;q=0.9' },
      { 'content-type': 'application/graphql+json' },
      { accept: 'text/event-stream' },
    ]) {
      const [status, text] = await send(bodyOf(Number(value)), headers)
      expect([status, text]).toEqual([200, expect.stringContaining('{"data":{"__typename":')])
      const [refused, refusal] = await send(bodyOf(Number(value) + 1), headers)
      expect([refused, refusal]).toEqual([400, expect.stringContaining(`"code":"${error}"`)])
    }
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/graphql`, [
      'graphql-transport-ws',
    ])
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init' }))
    socket.send(JSON.stringify({ type: 'ping', payload: bodyOf(Number(value) - 2) }))
    expect(String((await once(socket, 'message'))[0])).toContain('connection_ack')
    expect(String((await once(socket, 'message'))[0])).toContain('pong')
    socket.send(JSON.stringify({ type: 'ping', payload: bodyOf(Number(value)) }))
    const [code, reason] = await once(socket, 'close')
    expect([code, String(reason)]).toEqual([4400, error])
  })

  test('pageSize applies to nodes(ids) as well', async () => {
    const { data } = await served.ask('{ milestone { id } }')
    const ids = `"${data.milestone.id}" `
    const ofIds = (count: number) => codesOf(`{ nodes(ids: [${ids.repeat(count)}]) { id } }`)
    expect(await ofIds(maxPageSize)).not.toContain('PAGE_SIZE_OUT_OF_RANGE')
    expect(await ofIds(maxPageSize + 1)).toEqual(['PAGE_SIZE_OUT_OF_RANGE'])
  })

  test('of page sizes apply to lists without first and last', async () => {
    const sizes = ['defaultPageSize', 'defaultUpdatesPageSize'].map(
      (name) => limitByName.get(name)?.value,
    )
    const slots = Array.from({ length: 110 }, (_, n) => [entry(0, n)])
    await served.commit(...slots)
    const { data } = await served.ask(
      '{ milestones { nodes { index } } ledgerUpdates { nodes { seq } } }',
    )
    const { milestones, ledgerUpdates } = data
    const lengths = [milestones, ledgerUpdates].map(({ nodes }) => String(nodes.length))
    expect(lengths).toEqual(sizes)
  })

  test('of page sizes are in the schema, and docs/graphql.md lists the fields with the larger one', () => {
    const schema = readFileSync('schema.graphql', 'utf8')
    const first = /^ {2}(\w+)\(\n(?:(?!^ {2}\)).*\n)*? {4}first: Int\n/gm
    const lists = Array.from(schema.matchAll(first), ([text, field = '']) => {
      return { field, size: /Defaults to (\d+) if last is not given/.exec(text)?.[1] }
    })
    const [plain, larger] = ['defaultPageSize', 'defaultUpdatesPageSize'].map(
      (name) => limitByName.get(name)?.value,
    )
    expect(lists.length).toBeGreaterThan(30)
    expect(lists.filter(({ size }) => size !== plain && size !== larger)).toEqual([])
    const fields = lists.filter(({ size }) => size === larger).map(({ field }) => field)
    const [, listed = ''] = /a page has 20 items \(100 for\s+([^)]+)\)/.exec(page) ?? []
    const named = Array.from(listed.matchAll(/`(\w+)`/g), ([, field]) => field)
    expect(named.toSorted()).toEqual([...new Set(fields)].toSorted())
  })

  test('of search are those that it applies', async () => {
    expect(limitByName.get('searchHits')?.value).toBe(String(maxHits))
    const length = Number(limitByName.get('searchCharacters')?.value)
    const reasons = [length, length + 1].map(async (count) => {
      const { data } = await served.ask(`{ search(text: "${'~'.repeat(count)}") { message } }`)
      return data.search.message ?? ''
    })
    const [atLimit, beyond] = await Promise.all(reasons)
    expect(atLimit).not.toContain('longer than')
    expect(beyond).toContain(`longer than ${length} characters`)
  })

  test('that an operator sets have the configured value', () => {
    expect(limitByName.get('connections')).toMatchObject({ value: '7', setting: 'MAX_CONNECTIONS' })
    expect(limitByName.get('subscriptionsPerConnection')).toMatchObject({
      value: '3',
      setting: null,
    })
    expect(limitByName.get('subscriptions')?.value).toBe(`${defaultLimits.subscriptions}`)
  })

  test('have unique names, and name every code of the error table that has a limit', () => {
    const limits = limitsOf(defaultLimits)
    expect(limitByName.size).toBe(limits.length)
    const table = readFileSync(
      new URL('../../../../src/api/errors/error-table.ts', import.meta.url),
      'utf8',
    )
    const rows = [...table.matchAll(/^ {2}([A-Z_]+):(.*?)(?=^ {2}[A-Z_]+:|^})/gms)]
    const limited = rows.flatMap(([, code = '', row = '']) => (/e\.limit/.test(row) ? [code] : []))
    expect(limited.length).toBeGreaterThan(10)
    // The faucet itself reports how much an address may have.
    const named = new Set<string | undefined>(limits.map(({ error }) => error))
    expect(limited.filter((code) => !named.has(code))).toEqual(['FAUCET_FUNDS_ENOUGH'])
  })
})
