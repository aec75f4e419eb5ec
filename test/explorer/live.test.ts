import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import type { Keypair } from '../../src/protocol/keys.ts'
import {
  accessibilityProblems,
  lengthenHistories,
  openBrowser,
  openTab,
  savedBy,
  type Tab,
} from '../support/browser.ts'
import { type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { openSdk } from '../support/sdk.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** A user watches the ledger while payments are made and while the gateway is killed and restarted. */

let folder: UsualFolder
let gateway: Program
let browser: Browser
let tab: Tab

beforeAll(async () => {
  folder = await makeUsualFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  browser = await openBrowser()
  tab = await openTab(browser, gateway.url, { width: 1280 })
})
afterAll(async () => {
  await browser.close()
  await gateway.end('SIGTERM')
  await folder.remove()
})

const receiver = 3

test('payments appear once on an open page, also after the gateway was killed', async () => {
  const { page } = tab
  const sdk = await openSdk(gateway.url)
  const address = present(sdk.addresses[receiver], 'an address')
  const pay = async (from: number) => {
    const [own] = await genesisOutputs(gateway.url, user(from))
    const outputId = present(own, 'an output of the genesis')
    const amount = 1_234_567n
    const to = receiver
    const sent = await sdk.payment({ outputId, from, to, amount, withCommitment: false })
    const { block } = await sdk.block(sent.payload)
    await sdk.client.postBlock(block)
  }

  await page.goto(`${gateway.url}/`)
  await page.waitForSelector('.link-live')
  expect(await page.$eval('.empty a', (link) => link.getAttribute('href'))).toBe('/faucet')
  const line = await page.$eval('.empty a', (link) => getComputedStyle(link).textDecorationLine)
  expect(line).toBe('underline')
  // A reload of the page removes this mark.
  await page.evaluate('window.isStillThere = true')

  await page.keyboard.press('/')
  await page.keyboard.type(address)
  await page.waitForSelector('[role="option"]')
  await page.keyboard.press('Enter')
  await untilText('h1', 'Address')
  const before = (await changes()).length
  await untilHealth(gateway.url)
  await pay(2)
  await until(async () => (await changes()).length === before + 1, { what: 'another row' })
  expect((await changes())[0]).toContain('1.234567')

  const port = new URL(gateway.url).port
  await gateway.end('SIGKILL')
  await untilText('.link', 'reconnecting')
  expect((await changes()).length).toBe(before + 1)
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, PORT: port })
  await untilText('.link', 'live')
  await untilHealth(gateway.url)
  await pay(4)
  await until(async () => (await changes()).length === before + 2, { what: 'another row' })
  const links = await page.$$eval('[data-row] [data-head="Transaction"] a', (all) =>
    all.map(({ href }) => href),
  )
  expect(new Set(links).size).toBe(links.length)

  await page.click('[data-row] [data-head="Transaction"] a')
  await untilText('h1', 'Transaction')
  expect(await text('.sentence')).toContain('Moved 1.234567')
  await untilText('.state', 'final')
  await page.goBack()
  await untilText('h1', 'Address')
  expect((await changes()).length).toBe(before + 2)
  expect(await page.evaluate('window.isStillThere')).toBe(true)
  // The browser reports only the requests that the killed gateway did not answer.
  expect(tab.problems.filter((problem) => !problem.includes('ERR_'))).toEqual([])
}, 120_000)

test('the page of a future milestone says so, and shows the milestone when it is committed', async () => {
  const { status } = await restJson(`${gateway.url}/api/core/v3/info`)
  await tab.page.goto(`${gateway.url}/milestone/${status.latestFinalizedSlot + 5}`)
  await untilText('h1', 'Not committed yet')
  await untilText('h1', 'Milestone')
}, 120_000)

test('rows of a long list outside the window are released', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = own
  await lengthenHistories(page, listed)
  await page.goto(`${gateway.url}/address/${addressOf(user(7))}`)
  await page.waitForSelector('section[aria-label="History"] .gap')
  const drawn = await page.evaluate(async () => {
    const all = new Set<string>()
    // Each step overlaps with the one before.
    for (let step = 0; step < 60; step++) {
      scrollBy(0, innerHeight / 2)
      for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame)
      for (const row of document.querySelectorAll('[data-row]'))
        all.add(row.getAttribute('aria-rowindex') ?? '')
    }
    return all.size
  })
  expect(drawn).toBeGreaterThan(300)
  const session = await page.createCDPSession()
  await session.send('HeapProfiler.collectGarbage')
  const prototype = await page.evaluateHandle(() => HTMLTableRowElement.prototype)
  const kept = await page.queryObjects(prototype)
  expect(await kept.evaluate((rows) => rows.length)).toBeLessThan(200)
  await own.close()
}, 120_000)

test('a page contains the rows of a long list near the window, and its file and print contain all', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = own
  await lengthenHistories(page, listed)
  await page.goto(`${gateway.url}/address/${addressOf(user(7))}`)
  await page.waitForSelector('.link-live')
  const history = 'section[aria-label="History"]'
  const rowsAt = () =>
    page.$$eval(`${history} [data-row]`, (rows) =>
      rows.map((row) => Number(row.getAttribute('aria-rowindex'))),
    )
  const untilDrawn = (index: number) =>
    until(async () => (await rowsAt()).includes(index), { what: `row ${index}` })
  const widths = () => page.$$eval(`${history} th`, (all) => all.map((one) => one.clientWidth))
  const rowCount = async () =>
    Number(await page.$eval(`${history} table`, (one) => one.getAttribute('aria-rowcount')))

  await untilDrawn(2)
  const count = await rowCount()
  expect(count).toBeGreaterThan(listed)
  expect((await rowsAt()).length).toBeLessThan(100)
  const before = await widths()
  // The row with the focus stays, and keys move on from it.
  await page.focus(`${history} [aria-rowindex="9"] a`)
  const focused = () =>
    page.evaluate(() =>
      Number(document.activeElement?.closest('tr')?.getAttribute('aria-rowindex')),
    )
  for (let n = 0; n < 40; n++) await page.keyboard.press('j')
  // A key whose row is not drawn yet acts in a later frame, and scrolls to it.
  await until(async () => (await focused()) >= 49, { what: '40 rows further down' })
  await page.$eval(`${history} .as-csv`, (end) => end.scrollIntoView())
  await untilDrawn(count)
  expect((await rowsAt()).length).toBeLessThan(150)
  expect(await widths()).toEqual(before)
  // A new row moves all others.
  const from = await focused()
  const counted = await rowCount()
  expect(from).toBeGreaterThanOrEqual(49)
  await page.keyboard.press('j')
  expect(await focused()).toBe(from + 1)
  await untilDrawn(60)
  // Faster than rows are drawn: the elements after the rows are not mistaken for the next row.
  await page.evaluate(() => {
    for (let n = 0; n < 150; n++) dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))
  })
  const reached = () => rowCount().then((now) => from + 151 + now - counted)
  await until(async () => (await focused()) === (await reached()), {
    what: '150 rows further down',
  })
  await page.evaluate(() => {
    for (let n = 0; n < 150; n++) dispatchEvent(new KeyboardEvent('keydown', { key: 'k' }))
  })
  await until(async () => (await focused()) === (await reached()) - 150, { what: 'the way back' })
  expect(await accessibilityProblems(own)).toEqual([])

  // A later row is added: the others stay unchanged.
  await page.evaluate('window.standing = document.activeElement.closest("tr")')
  await untilHealth(gateway.url)
  await payTo(user(7), user(8))
  await until(async () => (await rowCount()) > counted, { what: 'another row' })
  expect(await focused()).toBe(from + 1 + (await rowCount()) - counted)
  expect(await page.evaluate('window.standing.isConnected')).toBe(true)

  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-csv-'))
  const name = await savedBy(page, folder, () =>
    page.$eval(`${history} .as-csv button`, (button) => button.click()),
  )
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\r\n')
  rmSync(folder, { recursive: true })
  expect(lines).toHaveLength(await rowCount())
  const amounts = lines.slice(-listed).map((line) => line.split(',')[3])
  expect(amounts).toEqual(Array.from({ length: listed }, (_, n) => String(n)))

  await page.evaluate('dispatchEvent(new Event("beforeprint"))')
  expect((await rowsAt()).length).toBe((await rowCount()) - 1)
  await page.evaluate('dispatchEvent(new Event("afterprint"))')
  expect((await rowsAt()).length).toBeLessThan(150)
  expect(own.problems).toEqual([])
  await own.close()
})

/** The number of additional rows in the history of an address. */
const listed = 400

/** Pays the whole amount of a genesis output. */
async function payTo(from: Keypair, to: Keypair): Promise<void> {
  const offer = await offerOf(gateway.url)
  const [own] = await genesisOutputs(gateway.url, from)
  const { payload } = paymentOf(offer.network, {
    spend: present(own, 'an output'),
    key: from,
    outputs: [ownedBy(to, 1_000_000_000n)],
    creationSlot: slotNow(offer.network),
  })
  await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
}

test('the chosen theme survives a reload', async () => {
  const { page } = tab
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  expect(await theme()).toBe(undefined)
  await page.keyboard.press('t')
  expect(await theme()).toBe('light')
  await page.keyboard.press('t')
  await page.reload()
  expect(await theme()).toBe('dark')
})

test.each([
  {
    name: 'more base tokens than it spends',
    ...{ key: 5, amount: 1_000_000_001n, failure: 'Rule 14, InputOutputBaseTokenMismatch' },
    ...{ signs: '✓✓✓✓✓✕······', marked: 0, again: 'The result is final' },
  },
  {
    name: 'the signature of another key',
    ...{ key: 6, amount: 1_000_000_000n, failure: 'Rule 5, UnlockSignatureInvalid' },
    ...{ signs: '✓✕··········', marked: 1, again: 'The transaction would fail now' },
  },
])('the page of a failed transaction shows the rules and verifies it again: $name', async (row) => {
  const { page } = tab
  const offer = await offerOf(gateway.url)
  const [own] = await genesisOutputs(gateway.url, user(5))
  const spend = present(own, 'an output of the genesis')
  const made = paymentOf(offer.network, {
    ...{ spend, key: user(row.key), outputs: [ownedBy(user(6), row.amount)] },
    creationSlot: slotNow(offer.network),
  })
  await acceptedId(await post(gateway.url, blockOf(offer, made.payload).bytes))
  await page.goto(`${gateway.url}/transaction/${made.transactionId}`)
  await untilText('.failure', row.failure)
  const rules = await page.$$eval('.rules li', (all) => all.map(({ textContent }) => textContent))
  expect(rules.map((rule) => rule?.slice(0, 1))).toEqual([...row.signs])
  expect(await page.$$('.flow-broken')).toHaveLength(row.marked)
  // The second failure is not permanent, because a block with another signature could carry the transaction.
  await until(
    async () => (await page.$$('.strip a[aria-label$=", 1 failed"] span span')).length === 1,
    { what: 'the failed part of a bar' },
  )
  expect(await accessibilityProblems(tab)).toEqual([])
  await page.click('.try-again button')
  await untilText('.try-again', row.again)
  await until(() => tab.operations.includes('query TryAgain'))
})

test('a page that could not be loaded appears when the gateway is back', async () => {
  const { page } = tab
  const port = new URL(gateway.url).port
  await untilText('.link', 'live')
  await gateway.end('SIGKILL')
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await untilText('h1', 'could not be loaded')
  const loadedAgain = new Promise((resolve) => page.once('load', resolve))
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, PORT: port })
  await loadedAgain
  await untilText('h1', 'Blocks')
}, 120_000)

test('a page that could not be loaded does not lead away before the network is back', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  const heading = () => own.page.evaluate('document.querySelector("h1")?.textContent')
  await own.page.goto(`${gateway.url}/blocks`)
  await own.page.waitForSelector('.link-live')
  await own.page.evaluate('window.isStillThere = true')
  // The open connection stays, so the explorer does not notice.
  await own.page.setOfflineMode(true)
  await own.page.click('.nav a[href="/tokens"]')
  await until(async () => (await heading()) === 'This page could not be loaded')
  const frame = 'query Frame'
  await until(() => own.operations.includes(frame), { what: 'asks whether the gateway responds' })
  expect(await own.page.evaluate('window.isStillThere')).toBe(true)
  const loaded = new Promise((resolve) => own.page.once('load', resolve))
  await own.page.setOfflineMode(false)
  await loaded
  await until(async () => (await heading()) === 'Tokens')
  await own.close()
})

/** Returns the texts of the rows of the history. */
function changes(): Promise<readonly string[]> {
  return tab.page.$$eval('section[aria-label="History"] tbody tr', (rows) =>
    rows.map(({ textContent }) => textContent ?? ''),
  )
}

async function text(selector: string): Promise<string> {
  const found = await tab.page.$(selector)
  return (await found?.evaluate(({ textContent }) => textContent)) ?? ''
}

async function untilText(selector: string, expected: string): Promise<void> {
  await until(async () => (await text(selector)).includes(expected), {
    what: `${selector} contains ${expected}`,
  })
}
