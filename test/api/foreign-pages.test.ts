import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/rest/routes.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { rest, restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** What a page of another host can have a browser send with the cookie of this one: nothing that changes anything. */

let gateway: TestGateway
let cookie: string
const chain = chainIdOf(70)
const record = JSON.stringify({ accessNodes: ['a'], isActive: true })

beforeAll(async () => {
  gateway = await startGateway({ env: { SUBMIT: 'token' } })
  await untilHealth(gateway.url)
  cookie = `jwt=${await gateway.token('chain-record:write', 'block:submit')}`
  const made = await send(`/v1/chains/${chain}/chainrecord`, record, {
    ...json,
    origin: gateway.url,
  })
  expect(made.status).toBe(201)
})
afterAll(() => gateway.close())

const json = { 'content-type': 'application/json' }

function send(
  path: string,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<Response> {
  // GraphQL is not in the document that the helper holds answers against.
  const ask = path === '/graphql' ? fetch : rest
  return ask(gateway.url + path, {
    method: 'POST',
    headers: { cookie, ...headers },
    // As bytes, for a text would be given a content type.
    ...(body !== undefined && { body: new TextEncoder().encode(body) }),
  })
}

/** Everything that changes something, with a request that does it; the faucet gives to everybody. */
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

const ask = (path: string, headers: Record<string, string>) =>
  send(path.replace('{chainID}', chain), changes[path], headers)

/** Whether it was done. GraphQL says 200 of a mutation that failed. */
async function isDone(response: Response): Promise<boolean> {
  const { errors } = await response.clone().json()
  return response.ok && errors === undefined
}

async function version(): Promise<number> {
  return (await restJson(`${gateway.url}/v1/chains/${chain}/chainrecord`)).version
}

test('every route that changes something is among those that are tried here', () => {
  const writing = routes.filter(({ method }) => method !== 'GET').map(({ path }) => path)
  expect([...writing, '/graphql'].toSorted()).toEqual(paths.toSorted())
})

describe.each(needToken)('%s', (path) => {
  const type: Record<string, string> = changes[path] === undefined ? {} : json
  const foreign = [
    ['by its origin', { origin: 'https://evil.example' }],
    ['by no origin', { origin: 'null' }],
    ['by the word of a browser', { 'sec-fetch-site': 'cross-site' }],
    ['of the same site by the word of a browser', { 'sec-fetch-site': 'same-site' }],
  ] as const
  test.each(foreign)('does not take the cookie of a page of another host, %s', async (_, page) => {
    const before = await version()
    const answer = await ask(path, { ...type, ...page })
    expect(await isDone(answer)).toBe(false)
    if (path !== '/graphql') expect([401, 403]).toContain(answer.status)
    else expect((await answer.json()).errors[0].extensions.code).toBe('TOKEN_MISSING')
    expect(await version()).toBe(before)
  })

  const own = [
    ['by its origin', () => ({ origin: gateway.url })],
    ['by the word of a browser behind a proxy', () => sameOrigin],
    ['that no page made', () => ({})],
  ] as const
  const sameOrigin = { 'sec-fetch-site': 'same-origin', origin: 'https://public.example' }
  test.each(own)('takes it of a page of this host, %s', async (_, page) => {
    expect(await isDone(await ask(path, { ...type, ...page() }))).toBe(true)
  })
})

describe.each(paths)('%s', (path) => {
  const forms = [
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'TEXT/PLAIN;charset=UTF-8',
  ]
  test.each(forms)('takes no form, %s', async (type) => {
    const before = await version()
    const authorization = await gateway.token('chain-record:write', 'block:submit')
    const answer = await ask(path, { authorization, 'content-type': type })
    expect(answer.status).toBe(path === '/graphql' ? 415 : 400)
    const { error, errors } = await answer.json()
    expect(error?.message ?? errors[0].message).toMatch(/Content-Type: expected application\/json/)
    const withCookie = await ask(path, { 'content-type': type })
    expect(withCookie.ok).toBe(false)
    expect(await version()).toBe(before)
  })
})

/** What browsers say of a request that a page of another host makes: a form, a picture, a frame without origin, `no-cors`. */
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

  /** The status, and the code or sentence of a refusal. */
  async function answerTo(path: string, method: string, headers: Record<string, string>) {
    const local = path.replace('{chainID}', chain).replaceAll(/\{\w+\}/g, '7')
    const hasBody = method !== 'GET' && method !== 'HEAD'
    // The faucet remembers whom it gave to, so it is asked for nothing.
    const body = path === '/api/enqueue' ? '{}' : (changes[path] ?? record)
    const ask = path.startsWith('/graphql') || path === '/' ? fetch : rest
    const response = await ask(gateway.url + local, {
      method,
      headers,
      redirect: 'manual',
      ...(hasBody && { body: new TextEncoder().encode(body) }),
    })
    if (response.status >= 400) return `${response.status} ${await response.text()}`
    await response.body?.cancel()
    return `${response.status}`
  }

  /** Each page by the methods of the route, and one by every other method. */
  function attempts(path: string) {
    const own = routes.filter((one) => one.path === path).map(({ method }) => method)
    const taken: readonly string[] = own.length > 0 ? own : ['GET', 'POST']
    return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      foreignRequests
        .slice(0, taken.includes(method) ? foreignRequests.length : 1)
        .map((page) => ({ method, page })),
    )
  }

  test.each(paths)('%s answers a foreign page as it answers without a cookie', async (path) => {
    const before = await version()
    const asked = attempts(path).map(async ({ method, page }) => {
      const anonymous = await answerTo(path, method, page)
      const withCookie = await answerTo(path, method, { ...page, cookie })
      expect(withCookie, `${method} ${JSON.stringify(page)}`).toBe(anonymous)
    })
    await Promise.all(asked)
    expect(await version()).toBe(before)
  })

  test('an event stream takes the cookie of its own pages, and so refuses a bad one', async () => {
    const query = new URLSearchParams({ query: 'subscription { ledgerUpdates { __typename } }' })
    const stream = (site: string) =>
      answerTo(`/graphql?${query}`, 'GET', {
        accept: 'text/event-stream',
        cookie: 'jwt=x.y.z',
        'sec-fetch-site': site,
      })
    expect(await stream('same-origin')).toMatch(/^401 /)
    expect(await stream('cross-site')).toBe('200')
  })
})
