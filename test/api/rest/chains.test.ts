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
  test('is read as it was set, and named by its version', async () => {
    const set = await setRecord(1)
    const got = await rest(urlOf(1))
    expect([got.status, got.headers.get('etag')]).toEqual([200, '"1"'])
    expect(await got.json()).toEqual(await set.json())
    expect(set.headers.get('etag')).toBe('"1"')
    const known = await rest(urlOf(1), { headers: { 'if-none-match': '"1"' } })
    expect(known.status).toBe(304)
  })

  test('that was never set is not there', async () => {
    expect(await refusal(await rest(urlOf(2)))).toEqual([
      404,
      `the chain ${chainIdOf(2)} has no record`,
    ])
  })

  test('of something that is no chain is refused', async () => {
    const [status, message] = await refusal(await rest(`${gateway.url}/v1/chains/x/chainrecord`))
    expect([status, message.slice(0, 8)]).toEqual([400, 'chainID:'])
  })
})

describe('If-Match', () => {
  const rows = [
    ['the version that is there', '"2"', 201],
    ['one of several', '"9", "2"', 201],
    ['any', '*', 201],
    ['an older version', '"1"', 412],
    ['a newer version', '"3"', 412],
    ['a weak tag', 'W/"2"', 412],
    ['a tag of something else', '"other"', 412],
    ['no tag', '2', 400],
    ['nothing', '', 400],
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

  test('asks for a record where there is none', async () => {
    const response = await setRecord(30, { 'if-match': '*' })
    expect(await refusal(response)).toEqual([
      412,
      `the chain ${chainIdOf(30)} has no record to replace`,
    ])
  })

  test('lets one of many writers through', async () => {
    await setRecord(31)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => setRecord(31, { 'if-match': '"1"' })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, 412, 412, 412, 412, 412, 412, 412])
  })
})

describe('activating', () => {
  test('changes the flag alone, and only where it is another', async () => {
    await setRecord(40)
    const off = await turn(40, 'deactivate')
    expect([off.status, off.headers.get('etag')]).toEqual([200, '"2"'])
    expect(await off.json()).toMatchObject({ accessNodes: ['a'], isActive: false, version: 2 })
    expect(await (await turn(40, 'deactivate')).json()).toMatchObject({ version: 2 })
    const on = await turn(40, 'activate')
    expect(await on.json()).toMatchObject({ accessNodes: ['a'], isActive: true, version: 3 })
  })

  const rows = [
    ['a chain without a record', 41, 'activate', {}, 404],
    ['with an older version', 40, 'deactivate', { 'if-match': '"1"' }, 412],
    ['without a token', 40, 'deactivate', { authorization: '' }, 401],
  ] as const
  test.each(rows)('%s', async (_name, chain, word, headers, status) => {
    expect((await turn(chain, word, headers))?.status).toBe(status)
  })

  test('needs the permission to write', async () => {
    const authorization = await gateway.token('block:submit')
    expect((await turn(40, 'activate', { authorization })).status).toBe(403)
  })

  test('by many at once loses nothing', async () => {
    await setRecord(42)
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => turn(42, i % 2 === 0 ? 'deactivate' : 'activate')),
    )
    expect(await restJson(urlOf(42))).toMatchObject({ accessNodes: ['a'] })
  })
})

describe('the list', () => {
  test('has every chain once, page by page', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await restJson(`${gateway.url}/v1/chains?pageSize=3&cursor=${cursor}`)
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...page.items.map(({ chainID }: { chainID: string }) => chainID))
      cursor = page.cursor ?? ''
    } while (cursor !== '')
    const all = await restJson(`${gateway.url}/v1/chains`)
    expect(seen).toEqual(all.items.map(({ chainID }: { chainID: string }) => chainID))
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(seen.toSorted())
    expect(all.cursor).toBeUndefined()
  })

  test('a cursor that is none is refused by the name it has here', async () => {
    const { error } = await (await rest(`${gateway.url}/v1/chains?cursor=x`)).json()
    expect(error.message).toBe('query: cursor: not a cursor of this gateway')
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

function turn(
  chain: number,
  word: 'activate' | 'deactivate',
  headers: Record<string, string> = {},
): Promise<Response> {
  return rest(`${gateway.url}/v1/chains/${chainIdOf(chain)}/${word}`, {
    method: 'POST',
    headers: { authorization: token, ...headers },
  })
}
