import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/rest/routes.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { rest, restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** Requests that a page of another host can make a browser send with the cookie of this host: none of them changes anything. */

let gateway: TestGateway
let cookie: string
const chain = chainIdOf(70)
const record = JSON.stringify({ accessNodes: ['a'], isActive: true })

beforeAll(async () => {
  gateway = await startGateway({ env: { SUBMIT: 'token' } })
  await untilHealth(gateway.url)
  cookie = `jwt=${await gateway.token('chain-record:write', 'block:submit')}`
  const created = await send(`/v1/chains/${chain}/chainrecord`, record, {
    ...json,
    origin: gateway.url,
  })
  expect(created.status).toBe(201)
})
afterAll(() => gateway.close())

const json = { 'content-type': 'application/json' }

function send(
  path: string,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<Response> {
  // GraphQL is not in the document that the helper compares responses with.
  const request = path === '/graphql' ? fetch : rest
  return request(gateway.url + path, {
    method: 'POST',
    headers: { cookie, ...headers },
    // As bytes, because a string would get a content type.
    ...(body !== undefined && { body: new TextEncoder().encode(body) }),
  })
}

/** Every route that changes something, with a request that does so; the faucet needs no token. */
const changes: Readonly<Record<string, string | undefined>> = {
  '/v1/chains/{chainID}/chainrecord': record,
  '/v1/chains/{chainID}/activate': undefined,
  '/v1/chains/{chainID}/deactivate': undefined,
  '/api/core/v3/blocks': JSON.stringify({ type: 0, tag: '0x01', data: '0x' }),
  '/api/enqueue': JSON.stringify({ address: addressOf(user(1)) }),
  '/graphql': JSON.stringify({
    query: `mutation { setChainRecord(chainId: "${chain}", record: { accessNodes: ["b"], isActive: true }) { setBy } }`,
  }),
}
const paths = Object.keys(changes)
const needToken = paths.filter((path) => path !== '/api/enqueue')

const request = (path: string, headers: Record<string, string>) =>
  send(path.replace('{chainID}', chain), changes[path], headers)

/** Whether the change was made. A mutation of GraphQL that failed has the status 200 as well. */
async function isDone(response: Response): Promise<boolean> {
  const { errors } = await response.clone().json()
  return response.ok && errors === undefined
}

async function version(): Promise<number> {
  return (await restJson(`${gateway.url}/v1/chains/${chain}/chainrecord`)).version
}

test('every route that changes something is tested here', () => {
  const writing = routes.filter(({ method }) => method !== 'GET').map(({ path }) => path)
  expect([...writing, '/graphql'].toSorted()).toEqual(paths.toSorted())
})

describe.each(needToken)('%s', (path) => {
  const type: Record<string, string> = changes[path] === undefined ? {} : json
  const foreign = [
    ['by its origin', { origin: 'https://evil.example' }],
    ['with a null origin', { origin: 'null' }],
    ['by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['of the same site by Sec-Fetch-Site', { 'sec-fetch-site': 'same-site' }],
  ] as const
  test.each(foreign)('refuses the cookie of a page of another host, %s', async (_, page) => {
    const before = await version()
    const response = await request(path, { ...type, ...page })
    expect(await isDone(response)).toBe(false)
    if (path !== '/graphql') expect([401, 403]).toContain(response.status)
    else expect((await response.json()).errors[0].extensions.code).toBe('TOKEN_MISSING')
    expect(await version()).toBe(before)
  })

  const own = [
    ['by its origin', () => ({ origin: gateway.url })],
    ['by Sec-Fetch-Site behind a proxy', () => sameOrigin],
    ['without headers of a page', () => ({})],
  ] as const
  const sameOrigin = { 'sec-fetch-site': 'same-origin', origin: 'https://public.example' }
  test.each(own)('accepts the cookie of a page of this host, %s', async (_, page) => {
    expect(await isDone(await request(path, { ...type, ...page() }))).toBe(true)
  })
})

describe.each(paths)('%s', (path) => {
  const forms = [
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'TEXT/PLAIN;charset=UTF-8',
  ]
  test.each(forms)('refuses a form, %s', async (type) => {
    const before = await version()
    const authorization = await gateway.token('chain-record:write', 'block:submit')
    const response = await request(path, { authorization, 'content-type': type })
    expect(response.status).toBe(path === '/graphql' ? 415 : 400)
    const { error, errors } = await response.json()
    expect(error?.message ?? errors[0].message).toMatch(/Content-Type: expected application\/json/)
    const withCookie = await request(path, { 'content-type': type })
    expect(withCookie.ok).toBe(false)
    expect(await version()).toBe(before)
  })
})

/** Headers of browsers for requests of a page of another host: a form, an image, a frame without origin, `no-cors`. */
const foreignRequests: readonly Readonly<Record<string, string>>[] = [
  {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    origin: 'https://evil.example',
    'content-type': 'application/x-www-form-urlencoded',
  },
  {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'no-cors',
    'sec-fetch-dest': 'image',
    accept: 'image/*',
  },
  {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'iframe',
    origin: 'null',
    'content-type': 'multipart/form-data; boundary=x',
  },
  { 'sec-fetch-site': 'same-site', origin: 'https://other.example', 'content-type': 'text/plain' },
  { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', ...json },
  { origin: 'https://evil.example', ...json },
  { origin: 'https://evil.example', accept: 'text/event-stream' },
]

describe('every route, by every method', () => {
  const paths = [...new Set([...routes.map(({ path }) => path), '/graphql', '/', '/nowhere'])]

  /** Returns the status, and the text of a refusal. */
  async function responseTo(path: string, method: string, headers: Record<string, string>) {
    const local = path.replace('{chainID}', chain).replaceAll(/\{\w+\}/g, '7')
    const hasBody = method !== 'GET' && method !== 'HEAD'
    // The faucet remembers the addresses that it has paid, so it gets no valid request.
    const body = path === '/api/enqueue' ? '{}' : (changes[path] ?? record)
    const request = path.startsWith('/graphql') || path === '/' ? fetch : rest
    const response = await request(gateway.url + local, {
      method,
      headers,
      redirect: 'manual',
      ...(hasBody && { body: new TextEncoder().encode(body) }),
    })
    if (response.status >= 400) return `${response.status} ${await response.text()}`
    await response.body?.cancel()
    return `${response.status}`
  }

  /** All foreign requests for the methods of the route, and one for every other method. */
  function attempts(path: string) {
    const own = routes.filter((one) => one.path === path).map(({ method }) => method)
    const accepted: readonly string[] = own.length > 0 ? own : ['GET', 'POST']
    return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      foreignRequests
        .slice(0, accepted.includes(method) ? foreignRequests.length : 1)
        .map((page) => ({ method, page })),
    )
  }

  test.each(paths)(
    '%s sends a foreign page the same response with and without a cookie',
    async (path) => {
      const before = await version()
      const comparisons = attempts(path).map(async ({ method, page }) => {
        const anonymous = await responseTo(path, method, page)
        const withCookie = await responseTo(path, method, { ...page, cookie })
        expect(withCookie, `${method} ${JSON.stringify(page)}`).toBe(anonymous)
      })
      await Promise.all(comparisons)
      expect(await version()).toBe(before)
    },
  )

  test('an event stream accepts the cookie of its own pages, and so refuses an invalid one', async () => {
    const query = new URLSearchParams({ query: 'subscription { ledgerUpdates { __typename } }' })
    const stream = (site: string) =>
      responseTo(`/graphql?${query}`, 'GET', {
        accept: 'text/event-stream',
        cookie: 'jwt=x.y.z',
        'sec-fetch-site': site,
      })
    expect(await stream('same-origin')).toMatch(/^401 /)
    expect(await stream('cross-site')).toBe('200')
  })
})
