import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainIdOf } from '../../support/chain-ids.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { refusal } from '../../support/submit.ts'

let gateway: TestGateway
let token: string
beforeAll(async () => {
  gateway = await startGateway()
  token = await gateway.token('chain-record:write')
})
afterAll(() => gateway.close())

const record = { accessNodes: ['a'], isActive: true }

describe('a record', () => {
  test('is returned as it was set, with its version as tag', async () => {
    const set = await setRecord(1)
    const got = await rest(urlOf(1))
    expect([got.status, got.headers.get('etag')]).toEqual([200, '"1"'])
    expect(await got.json()).toEqual(await set.json())
    expect(set.headers.get('etag')).toBe('"1"')
    const known = await rest(urlOf(1), { headers: { 'if-none-match': '"1"' } })
    expect(known.status).toBe(304)
  })

  test('that was never set does not exist', async () => {
    expect(await refusal(await rest(urlOf(2)))).toEqual([
      404,
      `the chain ${chainIdOf(2)} has no record`,
    ])
  })

  test('of an id that is not of a chain is refused', async () => {
    const [status, message] = await refusal(await rest(`${gateway.url}/v1/chains/x/chainrecord`))
    expect([status, message.slice(0, 8)]).toEqual([400, 'chainID:'])
  })
})

describe('If-None-Match', () => {
  test('with * only creates a record, for one of many concurrent writers', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => setRecord(60, { 'if-none-match': '*' })),
    )
    const statuses = responses.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, 412, 412, 412, 412, 412, 412, 412])
    expect(await restJson(urlOf(60))).toMatchObject({ version: 1 })
    expect(await refusal(await setRecord(60, { 'if-none-match': '*' }))).toEqual([
      412,
      `the current version of the record of ${chainIdOf(60)} is 1`,
    ])
  })

  test.each([
    ['the current version', 61, '"2"', 412],
    ['a list with the current version', 62, '"9", "2"', 412],
    ['the current version as a weak tag', 63, 'W/"2"', 412],
    ['another version', 64, '"1"', 201],
    ['a text that is not a tag', 65, '2', 400],
  ])('with %s', async (_name, chain, tag, status) => {
    await setRecord(chain)
    await setRecord(chain)
    const response = await setRecord(chain, { 'if-none-match': tag })
    expect(response.status).toBe(status)
    expect(await restJson(urlOf(chain))).toMatchObject({ version: status === 201 ? 3 : 2 })
  })
})

describe('If-Match', () => {
  const rows = [
    ['the current version', '"2"', 201],
    ['a list with the current version', '"9", "2"', 201],
    ['any', '*', 201],
    ['an older version', '"1"', 412],
    ['a newer version', '"3"', 412],
    ['a weak tag', 'W/"2"', 412],
    ['a tag of something else', '"other"', 412],
    ['a text that is not a tag', '2', 400],
    ['an empty value', '', 400],
  ] as const
  test.each(rows)('with %s', async (_name, tag, status) => {
    const chain = 10 + rows.findIndex(([, one]) => one === tag)
    await setRecord(chain)
    await setRecord(chain)
    const response = await setRecord(chain, { 'if-match': tag })
    expect(response.status).toBe(status)
    const { version } = await restJson(urlOf(chain))
    expect(version).toBe(status === 201 ? 3 : 2)
    if (status !== 201) await refusal(response)
  })

  test('requires an existing record', async () => {
    const response = await setRecord(30, { 'if-match': '*' })
    expect(await refusal(response)).toEqual([
      412,
      `the chain ${chainIdOf(30)} has no record to replace`,
    ])
  })

  test('and If-None-Match apply together', async () => {
    await setRecord(32)
    const both = { 'if-match': '"1"', 'if-none-match': '*' }
    expect((await setRecord(32, both)).status).toBe(412)
  })

  test('accepts one of many concurrent writers', async () => {
    await setRecord(31)
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => setRecord(31, { 'if-match': '"1"' })),
    )
    const statuses = responses.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, 412, 412, 412, 412, 412, 412, 412])
  })
})

describe('activation', () => {
  test('changes the flag alone, and only if it differs', async () => {
    await setRecord(40)
    const off = await setActive(40, 'deactivate')
    expect([off.status, off.headers.get('etag')]).toEqual([200, '"2"'])
    expect(await off.json()).toMatchObject({ accessNodes: ['a'], isActive: false, version: 2 })
    expect(await (await setActive(40, 'deactivate')).json()).toMatchObject({ version: 2 })
    const on = await setActive(40, 'activate')
    expect(await on.json()).toMatchObject({ accessNodes: ['a'], isActive: true, version: 3 })
  })

  const rows = [
    ['of a chain without a record is refused', 41, 'activate', {}, 404],
    ['with an older version is refused', 40, 'deactivate', { 'if-match': '"1"' }, 412],
    ['without a token is refused', 40, 'deactivate', { authorization: '' }, 401],
  ] as const
  test.each(rows)('%s', async (_name, chain, word, headers, status) => {
    expect((await setActive(chain, word, headers))?.status).toBe(status)
  })

  test('requires the permission to write', async () => {
    const authorization = await gateway.token('block:submit')
    expect((await setActive(40, 'activate', { authorization })).status).toBe(403)
  })

  test('by concurrent requests loses nothing', async () => {
    await setRecord(42)
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => setActive(42, i % 2 === 0 ? 'deactivate' : 'activate')),
    )
    expect(await restJson(urlOf(42))).toMatchObject({ accessNodes: ['a'] })
  })
})

describe('the list', () => {
  test('has every chain once, page by page', async () => {
    const chainIds: string[] = []
    let cursor = ''
    do {
      const page = await restJson(`${gateway.url}/v1/chains?pageSize=3&cursor=${cursor}`)
      expect(page.items.length).toBeLessThanOrEqual(3)
      chainIds.push(...page.items.map(({ chainID }: { chainID: string }) => chainID))
      cursor = page.cursor ?? ''
    } while (cursor !== '')
    const all = await restJson(`${gateway.url}/v1/chains`)
    expect(chainIds).toEqual(all.items.map(({ chainID }: { chainID: string }) => chainID))
    expect(new Set(chainIds).size).toBe(chainIds.length)
    expect(chainIds).toEqual(chainIds.toSorted())
    expect(all.cursor).toBeUndefined()
  })

  test('names the parameter cursor when it refuses one', async () => {
    const { error } = await (await rest(`${gateway.url}/v1/chains?cursor=x`)).json()
    expect(error.message).toBe(
      'query: cursor: not a cursor from a response to the same kind of request',
    )
  })

  const rows = ['pageSize=0', 'pageSize=-1', 'pageSize=x', 'cursor=x', 'sort=newest']
  test.each(rows)('refuses %s', async (query) => {
    const [status] = await refusal(await rest(`${gateway.url}/v1/chains?${query}`))
    expect(status).toBe(400)
  })
})

function urlOf(chain: number): string {
  return `${gateway.url}/v1/chains/${chainIdOf(chain)}/chainrecord`
}

function setRecord(chain: number, headers: Record<string, string> = {}): Promise<Response> {
  return rest(urlOf(chain), {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(record),
  })
}

function setActive(
  chain: number,
  word: 'activate' | 'deactivate',
  headers: Record<string, string> = {},
): Promise<Response> {
  return rest(`${gateway.url}/v1/chains/${chainIdOf(chain)}/${word}`, {
    method: 'POST',
    headers: { authorization: token, ...headers },
  })
}
