import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { openBrowser, openTab, type Tab } from '../support/browser.ts'
import { graphql } from '../support/client.ts'
import { startWorld } from '../support/ledger-world.ts'
import { startGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder } from '../support/usual-folder.ts'
import { addressOf, ownedBy, paymentOf, untilHealth, user } from '../support/wallet.ts'

/** The explorer on gateways that change their role or have long slots. */

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

async function untilText({ page }: Tab, selector: string, expected: RegExp): Promise<void> {
  const text = () => page.$eval(selector, ({ textContent }) => textContent ?? '')
  await until(async () => expected.test(await text()), { what: `${selector} says ${expected}` })
}

test('the status line follows the role of the gateway', async () => {
  const folder = await makeUsualFolder()
  const env = { DATABASE_URL: folder.databaseUrl }
  const writer = await startGateway({ env })
  await untilHealth(writer.url)
  const standby = await startGateway({ env })
  const tab = await openTab(browser, standby.url, { width: 1280 })
  await tab.page.goto(standby.url)
  await tab.page.waitForSelector('.link-live')
  await untilText(tab, '.status', /standby: another gateway writes/)
  await writer.close()
  // Two minutes later.
  await tab.page.evaluate('{ const now = Date.now; Date.now = () => now() + 120_000 }')
  await untilText(tab, '.status', /^((?!standby).)*$/)
  await tab.close()
  await standby.close()
  await folder.remove()
})

test('pages say which lists the followed node does not provide, and which are no longer kept', async () => {
  const node = await startGateway()
  await untilHealth(node.url)
  const gateway = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url } })
  await untilHealth(gateway.url)
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const emptyOf = (list: string) =>
    tab.page.$eval(`section[aria-label="${list}"] .empty`, (one) => one.textContent)
  const notOffered = 'The node that this gateway follows does not provide this list.'
  await tab.page.goto(gateway.url)
  await tab.page.waitForSelector('.link-live')
  expect(await emptyOf('Transactions')).toBe(notOffered)
  // As if the updates of the genesis were pruned.
  await tab.page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const response = await send(...request)
      if (!String(request[1]?.body).includes('query MilestonePage')) return response
      const answer = await response.json()
      if (answer.data?.milestone) answer.data.milestone.updates = null
      return new Response(JSON.stringify(answer), { headers: response.headers })
    }
  }`)
  await tab.page.goto(`${gateway.url}/milestone/0`)
  await tab.page.waitForSelector('.link-live')
  expect(await emptyOf('Transactions')).toBe(notOffered)
  expect(await emptyOf('Blocks')).toBe(notOffered)
  expect(await emptyOf('Updates')).toBe('The updates of this milestone are no longer kept.')
  await tab.close()
  await gateway.close()
  await node.close()
})

test('the page of an address says that its history is no longer kept', async () => {
  const world = await startWorld({ LOG_RETENTION: '20' })
  await untilHealth(world.gateway.url)
  const { url } = world.gateway
  const { data } = await graphql(
    url,
    'query ($address: String!) { address(address: $address) { unspentOutputs(first: 1) { nodes { outputId } } } }',
    { address: addressOf(user(1)) },
  )
  const [{ outputId: spend }] = data.address.unspentOutputs.nodes
  await world.pass(40)
  const moment = await world.moment()
  const { payload } = paymentOf(moment.offer.network, {
    ...{ spend, key: user(1), outputs: [ownedBy(user(2), 1_000_000_000n)] },
    creationSlot: moment.slot,
  })
  await world.submit(moment, payload)
  await world.pass(6)
  const tab = await openTab(browser, url, { width: 1280 })
  const history = async (index: number) => {
    await tab.page.goto(`${url}/address/${addressOf(user(index))}`)
    await tab.page.waitForSelector('.link-live')
    return await tab.page.$eval('section[aria-label="History"]', (one) => one.textContent)
  }
  const young = await history(2)
  expect(young).toContain('Older history is no longer kept.')
  expect(young).not.toContain('The whole history.')
  const old = await history(3)
  expect(old).toContain('The history of this address is no longer kept.')
  expect(old).not.toContain('no history yet')
  expect(tab.problems).toEqual([])
  await tab.close()
  await world.close()
})

test('a connection without a milestone is kept while comments arrive', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const file = join(folder, 'parameters.json')
  const usual = developmentParameters(Math.floor(Date.now() / 1000) - 86_400)
  const parameters = { ...usual, slotDurationInSeconds: 60 }
  writeFileSync(file, JSON.stringify(print(ProtocolParameters, parameters)))
  const gateway = await startGateway({ env: { PARAMETERS_FILE: file } })
  await untilHealth(gateway.url)
  const proxy = await startCommenting(gateway.url)
  const tab = await openTab(browser, proxy.url, { width: 1280 })
  await hastenTimeouts(tab)
  await tab.page.goto(proxy.url)
  await tab.page.waitForSelector('.link-live')
  const connections = () => tab.operations.filter((one) => one.startsWith('subscription')).length
  await delay(1_000)
  expect(connections()).toBe(1)
  proxy.stopComments()
  await until(() => connections() > 1, { what: 'another connection' })
  await tab.close()
  proxy.close()
  await gateway.close()
  rmSync(folder, { recursive: true })
})

test('a page and its connection wait for the time in Retry-After', async () => {
  const gateway = await startGateway()
  await untilHealth(gateway.url)
  const proxy = await startCommenting(gateway.url)
  const tab = await openTab(browser, proxy.url, { width: 1280 })
  await tab.page.evaluateOnNewDocument(`{
    const start = window.setTimeout
    window.pauses = []
    window.setTimeout = (act, ms) => {
      if (ms === 30_000) window.pauses.push(ms)
      return start(act, ms)
    }
  }`)
  await tab.page.goto(`${proxy.url}/tokens`)
  await tab.page.waitForSelector('.link-live')
  await tab.page.click('.nav a[href="/blocks"]')
  await tab.page.waitForFunction('document.querySelector("h1")?.textContent === "Blocks"')
  proxy.refuse()
  // The code of this page is loaded, so only its request is refused.
  await tab.page.goBack()
  await tab.page.waitForFunction('window.pauses.length === 2')
  await tab.close()
  proxy.close()
  await gateway.close()
})

test('pages of a ledger that was replaced by another one of the same length are requested again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const PARAMETERS_FILE = join(folder, 'parameters.json')
  const parameters = developmentParameters(Math.floor(Date.now() / 1000) - 60)
  writeFileSync(PARAMETERS_FILE, JSON.stringify(print(ProtocolParameters, parameters)))
  const former = await startGateway({ env: { PARAMETERS_FILE } })
  await untilHealth(former.url)
  const newest = async () => {
    const { data } = await graphql(
      former.url,
      '{ milestones(first: 5) { nodes { index blockCount } } }',
    )
    return data.milestones.nodes.slice(2)
  }
  // A slot with a block has a commitment that the other ledger does not have.
  const { index } = await until(async () =>
    (await newest()).find(({ blockCount }: { blockCount: number }) => blockCount > 0),
  )
  const tab = await openTab(browser, former.url, { width: 1280 })
  await tab.page.goto(`${former.url}/milestone/${index}`)
  await tab.page.waitForSelector('.link-live')
  const commitment = () => tab.page.$eval('.facts .id', (one) => one.textContent)
  const before = await commitment()
  await former.close()
  const { port } = new URL(former.url)
  const gateway = await startGateway({ env: { PARAMETERS_FILE, PORT: port } })
  await until(async () => (await commitment()) !== before, { what: 'the other commitment' })
  await tab.close()
  await gateway.close()
  rmSync(folder, { recursive: true })
})

test('a page whose documents an upgraded gateway refuses is loaded again', async () => {
  const gateway = await startGateway()
  await untilHealth(gateway.url)
  const proxy = await startCommenting(gateway.url)
  const tab = await openTab(browser, proxy.url, { width: 1280 })
  await tab.page.goto(`${proxy.url}/milestones`)
  await tab.page.waitForSelector('.link-live')
  const loaded = new Promise((resolve) => tab.page.once('load', resolve))
  proxy.upgrade()
  await loaded
  await tab.page.waitForSelector('.link-live')
  await untilText(tab, 'h1', /^Milestones$/)
  await tab.close()
  proxy.close()
  await gateway.close()
})

test('a button whose code is gone after an upgrade loads the page again', async () => {
  const gateway = await startGateway()
  await untilHealth(gateway.url)
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(`${gateway.url}/milestones`)
  await tab.page.waitForSelector('.link-live')
  await tab.page.setRequestInterception(true)
  tab.page.on('request', (request) => {
    if (request.url().includes('/table-file-')) void request.respond({ status: 404 })
    else void request.continue()
  })
  const loaded = new Promise((resolve) => tab.page.once('load', resolve))
  await tab.page.click('.as-csv button')
  await loaded
  await tab.close()
  await gateway.close()
})

test('a request without an answer is repeated', async () => {
  const gateway = await startGateway()
  await untilHealth(gateway.url)
  const proxy = await startCommenting(gateway.url)
  const tab = await openTab(browser, proxy.url, { width: 1280 })
  await hastenTimeouts(tab)
  await tab.page.goto(`${proxy.url}/health-page`)
  await tab.page.waitForSelector('.link-live')
  proxy.hang()
  const requests = () => tab.operations.filter((one) => one === 'query HealthPage').length
  const before = requests()
  await until(() => requests() > before + 2, { what: 'requests after one without an answer' })
  await tab.close()
  proxy.close()
  await gateway.close()
})

test.each([
  ['refuses them', () => [502, 'text/html', '<h1>Bad gateway</h1>'] as const],
  ['answers with a page', () => [200, 'text/html', '<h1>Welcome</h1>'] as const],
  ['holds them back', () => 'HOLD' as const],
])(
  'behind a proxy that %s, event streams are replaced by questions until they arrive',
  async (_name, answer) => {
    const gateway = await startGateway()
    await untilHealth(gateway.url)
    const proxy = await startCommenting(gateway.url)
    const tab = await openTab(browser, proxy.url, { width: 1280 })
    await tab.page.evaluateOnNewDocument(`{
      const start = window.setTimeout
      window.setTimeout = (act, ms) => start(act, ms / 10)
      const now = performance.now.bind(performance)
      performance.now = () => 10 * now()
    }`)
    proxy.blockStreams(answer())
    await tab.page.goto(`${proxy.url}/milestones`)
    await tab.page.waitForSelector('.link-asking')
    const newest = () => tab.page.$eval('[data-row] a', (one) => one.textContent)
    const before = await newest()
    await until(async () => (await newest()) !== before, { what: 'another milestone' })
    expect(await tab.page.$$('.link-asking')).toHaveLength(1)
    proxy.blockStreams(undefined)
    await tab.page.waitForSelector('.link-live')
    const questions = () => tab.operations.filter((one) => one === 'query Frame').length
    const asked = questions()
    const shown = await newest()
    await until(async () => (await newest()) !== shown, { what: 'another milestone' })
    expect(questions()).toBe(asked)
    await tab.close()
    proxy.close()
    await gateway.close()
  },
  60_000,
)

test.each([
  { name: 'the login page of a network', status: 200, says: 'Another server responded' },
  { name: 'a proxy that asks for a login', status: 401, says: 'refused the token' },
])(
  'a page behind $name appears when the user returns after signing in',
  async (row) => {
    const gateway = await startGateway()
    await untilHealth(gateway.url)
    const proxy = await startCommenting(gateway.url)
    const tab = await openTab(browser, proxy.url, { width: 1280 })
    proxy.askToSignIn(row.status)
    await tab.page.goto(`${proxy.url}/tokens`)
    await tab.page.waitForSelector('.notice')
    await untilText(tab, '.notice', new RegExp(row.says))
    proxy.signIn()
    await tab.page.evaluate('dispatchEvent(new Event("focus"))')
    await tab.page.waitForSelector('.link-live', { timeout: 10_000 })
    await untilText(tab, 'h1', /^Tokens$/)
    await tab.close()
    proxy.close()
    await gateway.close()
  },
  60_000,
)

test('times follow the clock of the gateway after the clock of the browser was set back', async () => {
  const gateway = await startGateway()
  await untilHealth(gateway.url)
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(`${gateway.url}/milestones`)
  await tab.page.waitForSelector('.link-live')
  await tab.page.evaluate('{ const now = Date.now; Date.now = () => now() - 7_200_000 }')
  const frame = 'query Frame'
  await until(() => tab.operations.includes(frame), { what: 'asks for the time of the gateway' })
  await untilText(tab, '.status', /[1-9]\.\d s behind/)
  await untilText(tab, '[data-row] time', /^\d s ago$/)
  await tab.close()
  await gateway.close()
})

/** Ends the long timeouts of the pages of a tab a hundred times sooner. */
async function hastenTimeouts({ page }: Tab): Promise<void> {
  await page.evaluateOnNewDocument(`{
    const start = window.setTimeout
    window.setTimeout = (act, ms) => start(act, ms >= 45_000 ? ms / 100 : ms)
  }`)
}

/** What a proxy answers instead of the gateway. */
interface Refusal {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body?: string
  readonly isForAll: boolean
}

/** What a proxy answers to a request for an event stream: a status with a type and a body, or nothing. */
type StreamAnswer = readonly [status: number, type: string, body: string] | 'HOLD'

/** Starts a proxy that sends a comment in every event stream each tenth of a second: a hundred times as often as needed. */
async function startCommenting(gatewayUrl: string) {
  let isCommenting = true
  let refusal: Refusal | undefined
  let isHanging = false
  let ofStreams: StreamAnswer | undefined
  let isUpgraded = false
  const server = createServer((incoming, outgoing) => {
    if (isHanging) return
    const { method, url, headers } = incoming
    if (ofStreams !== undefined && headers.accept === 'text/event-stream') {
      if (ofStreams === 'HOLD') return
      const [status, type, body] = ofStreams
      outgoing.writeHead(status, { 'content-type': type }).end(body)
      return
    }
    if (refusal !== undefined && (refusal.isForAll || url === '/graphql')) {
      outgoing.writeHead(refusal.status, refusal.headers).end(refusal.body)
      return
    }
    if (isUpgraded && method === 'POST') {
      outgoing.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          errors: [{ message: 'x', extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
        }),
      )
      return
    }
    // The explorer of the new version is loaded.
    if (headers.accept?.includes('text/html')) isUpgraded = false
    const forwarded = request(gatewayUrl + url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
      if (!response.headers['content-type']?.startsWith('text/event-stream')) return
      const comments = setInterval(() => isCommenting && outgoing.write(':\n\n'), 100)
      response.once('close', () => clearInterval(comments))
    })
    forwarded.once('error', () => outgoing.destroy())
    outgoing.once('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stopComments: () => {
      isCommenting = false
    },
    /** Cuts all connections, and refuses all further requests for 30 seconds. */
    refuse: () => {
      refusal = { status: 503, headers: { 'retry-after': '30' }, isForAll: true }
      server.closeAllConnections()
    },
    /** Answers requests to GraphQL as a network or a proxy does before its user has signed in. */
    askToSignIn: (status: number) => {
      const headers = { 'content-type': 'text/html' }
      refusal = { status, headers, body: '<h1>Welcome</h1>', isForAll: false }
    },
    signIn: () => {
      refusal = undefined
    },
    /** Answers requests for event streams itself, or not at all. */
    blockStreams: (answer: StreamAnswer | undefined) => {
      ofStreams = answer
    },
    /** Refuses the documents of every page that is not loaded again. */
    upgrade: () => {
      isUpgraded = true
      server.closeAllConnections()
    },
    /** Answers no further request. */
    hang: () => {
      isHanging = true
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
