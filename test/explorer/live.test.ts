import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { openBrowser, openTab, type Tab } from '../support/browser.ts'
import { type Program, startProgram } from '../support/program.ts'
import { openSdk } from '../support/sdk.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import { genesisOutputs, untilHealth, user } from '../support/wallet.ts'

/** A person who looks at the ledger while payments are made, and while the gateway is killed and started again. */

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

const taker = 3

test('payments arrive on an open page, also after the gateway was killed, and none comes twice', async () => {
  const { page } = tab
  const sdk = await openSdk(gateway.url)
  const address = present(sdk.addresses[taker], 'an address')
  const pay = async (from: number) => {
    const [own] = await genesisOutputs(gateway.url, user(from))
    const outputId = present(own, 'an output of the genesis')
    const amount = 1_234_567n
    const to = taker
    const sent = await sdk.payment({ outputId, from, to, amount, withCommitment: false })
    const { block } = await sdk.block(sent.payload)
    await sdk.client.postBlock(block)
  }

  await page.goto(`${gateway.url}/`)
  await page.waitForSelector('.link-live')
  // Gone when the page is loaded again.
  await page.evaluate('window.isStillThere = true')

  await page.keyboard.press('/')
  await page.keyboard.type(address)
  await page.waitForSelector('[role="option"]')
  await page.keyboard.press('Enter')
  await untilText('h1', 'Address')
  const before = (await changes()).length
  await untilHealth(gateway.url)
  await pay(2)
  await until(async () => (await changes()).length === before + 1, { what: 'a row more' })
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
  // What the browser says of the requests that the killed gateway did not answer is all that it says.
  expect(tab.problems.filter((problem) => !problem.includes('ERR_'))).toEqual([])
}, 120_000)

test('the theme that was chosen stays', async () => {
  const { page } = tab
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  expect(await theme()).toBe(undefined)
  await page.keyboard.press('t')
  expect(await theme()).toBe('light')
  await page.keyboard.press('t')
  await page.reload()
  expect(await theme()).toBe('dark')
})

test('a page that was never loaded comes when the gateway is back', async () => {
  const { page } = tab
  const port = new URL(gateway.url).port
  await untilText('.link', 'live')
  await gateway.end('SIGKILL')
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await untilText('h1', 'could not be loaded')
  const loadedAgain = page.waitForNavigation({ timeout: 60_000 })
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, PORT: port })
  await loadedAgain
  await untilText('h1', 'Blocks')
}, 120_000)

/** The rows of the history. */
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
    what: `${selector} says ${expected}`,
  })
}
