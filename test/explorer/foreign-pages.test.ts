import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/rest/routes.ts'
import { openBrowser } from '../support/browser.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/**
 * In a real browser with the cookie of the gateway, a page of another origin sends requests to every route in each possible way.
 * Browsers store cookies by host without the port, so they send this cookie; the gateway must ignore it.
 */

let gateway: TestGateway
let browser: Browser
let foreign: Server
let page: Page
/** Modes and destinations of the requests of the foreign page that had the cookie, as the browser reports them. */
const withCookie: string[] = []

const chain = chainIdOf(71)
const recordOf = (node: string) => JSON.stringify({ accessNodes: [node], isActive: true })
const mutation = `mutation { setChainRecord(chainId: "${chain}", record: { accessNodes: ["evil"], isActive: true }) { setBy } }`

beforeAll(async () => {
  gateway = await startGateway({ env: { SUBMIT: 'token' } })
  await untilHealth(gateway.url)
  foreign = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>')
  })
  await once(foreign.listen(0, '127.0.0.1'), 'listening')
  browser = await openBrowser()
  const token = await gateway.token('chain-record:write', 'block:submit')
  await browser.setCookie({ name: 'jwt', value: token, domain: '127.0.0.1', path: '/' })
  page = await browser.newPage()
})
afterAll(async () => {
  await browser.close()
  foreign.closeAllConnections()
  foreign.close()
  await gateway.close()
})

/** Requests to every route with its method, and to GraphQL. */
const all = [
  ...routes.map(({ method, path }) => ({ method: String(method), path: filled(path) })),
  { method: 'POST', path: '/graphql' },
  { method: 'GET', path: `/graphql?query=${encodeURIComponent(mutation)}` },
]

function filled(path: string): string {
  return path.replace('{chainID}', chain).replaceAll(/\{\w+\}/g, '7')
}

function bodyFor(path: string): string {
  return path === '/graphql' ? JSON.stringify({ query: mutation }) : recordOf('evil')
}

const state = () => restJson(`${gateway.url}/v1/chains/${chain}/chainrecord`)

describe('a page in a browser', () => {
  test('of the gateway itself changes a record with the cookie', async () => {
    await page.goto(`${gateway.url}/openapi.json`)
    const status = await page.evaluate(
      async (path, body) => {
        const headers = { 'content-type': 'application/json' }
        return (await fetch(path, { method: 'POST', headers, body })).status
      },
      `/v1/chains/${chain}/chainrecord`,
      recordOf('own'),
    )
    expect(status).toBe(201)
    expect(await state()).toMatchObject({ accessNodes: ['own'], isActive: true, version: 1 })
  })

  test('of another origin changes nothing by any route, with requests, forms and images', async () => {
    const { port } = foreign.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/`)
    const session = await page.createCDPSession()
    await session.send('Network.enable')
    session.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
      const lowered = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      )
      if (!lowered.cookie?.includes('jwt=')) return
      expect(lowered['sec-fetch-site']).toBe('same-site')
      withCookie.push(`${lowered['sec-fetch-mode']} ${lowered['sec-fetch-dest']}`)
    })
    const attempts = all.map((one) => ({ ...one, body: bodyFor(one.path) }))
    const forms = await page.evaluate(sendEverything, gateway.url, attempts)
    const posts = all.filter(({ method }) => method === 'POST')
    expect(forms).toBe(3 * posts.length)
    // The browser sent the cookie in each way, and to each route at least once.
    for (const way of ['no-cors empty', 'cors empty', 'no-cors image', 'navigate iframe']) {
      expect(withCookie).toContain(way)
    }
    expect(withCookie.length).toBeGreaterThan(2 * all.length)
    expect(await state()).toMatchObject({ accessNodes: ['own'], isActive: true, version: 1 })
  })

  test('of another origin changes nothing by a WebSocket', async () => {
    const code = await page.evaluate(
      (url, query) =>
        new Promise<unknown>((resolve) => {
          const socket = new WebSocket(url, 'graphql-transport-ws')
          socket.onopen = () => socket.send('{"type":"connection_init"}')
          socket.onclose = ({ code }) => resolve(code)
          socket.onmessage = ({ data }) => {
            const { type, payload } = JSON.parse(data)
            if (type === 'connection_ack') {
              socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
            } else resolve((payload.errors ?? payload)[0]?.extensions.code ?? payload)
          }
        }),
      `${gateway.url.replace('http', 'ws')}/graphql`,
      mutation,
    )
    expect(code).toBe('TOKEN_MISSING')
    expect(await state()).toMatchObject({ accessNodes: ['own'], version: 1 })
  })
})

interface Attempt {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** Runs in the page. Returns the number of forms with a response. */
async function sendEverything(url: string, attempts: readonly Attempt[]): Promise<number> {
  /** Sends a request. Responses that the page may not read, and rejections by the browser, are expected. */
  async function send(path: string, init: RequestInit): Promise<void> {
    const leaving = new AbortController()
    const { signal } = leaving
    await fetch(url + path, { ...init, credentials: 'include', signal }).catch(() => {})
    leaving.abort()
  }

  async function show(path: string): Promise<void> {
    const image = new Image()
    const shown = new Promise((resolve) => {
      image.onload = resolve
      image.onerror = resolve
    })
    image.src = url + path
    await shown
  }

  let forms = 0
  async function submit(path: string, body: string, enctype: string): Promise<void> {
    const frame = document.createElement('iframe')
    frame.name = `frame${forms}-${path}`
    const form = document.createElement('form')
    Object.assign(form, { method: 'POST', action: url + path, enctype, target: frame.name })
    const input = document.createElement('input')
    // As plain text, NAME=VALUE is valid JSON.
    input.name = `${body.slice(0, -1)},"x":"`
    input.value = '"}'
    form.append(input)
    document.body.append(frame, form)
    const answered = new Promise((resolve) => {
      frame.onload = resolve
    })
    form.submit()
    await answered
    forms++
  }

  for (const { method, path, body } of attempts) {
    const types = ['text/plain', 'application/json']
    if (method === 'GET') {
      await Promise.all([send(path, { mode: 'no-cors' }), send(path, { mode: 'cors' })])
      // An image waits for the end of its response, which the feed does not have.
      if (path.startsWith('/api/')) await show(path)
      continue
    }
    for (const type of types) {
      const headers = { 'content-type': type }
      await send(path, { method, mode: 'no-cors', headers, body })
      await send(path, { method, mode: 'cors', headers, body })
    }
    await send(path, { method, mode: 'no-cors' })
    const encodings = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
    for (const enctype of encodings) await submit(path, body, enctype)
  }
  return forms
}
