import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { accessibilityProblems, type Look, openBrowser, openTab } from '../support/browser.ts'
import { type ChainWorld, startChainWorld } from '../support/chain-world.ts'
import { setRecords, variablesIn } from '../support/explorer-pages.ts'

/** Every page in a browser, on a ledger with everything in it: nothing goes wrong in it, and it asks once. */

let started: ChainWorld
let browser: Browser
let paths: ReadonlyMap<string, string>

beforeAll(async () => {
  ;[started, browser] = await Promise.all([
    startChainWorld({ players: 40, rounds: 8 }),
    openBrowser(),
  ])
  const variables = await variablesIn(started)
  const { milestone, block, transaction, output, address, search } = variables
  await setRecords(started.world.gateway, variables)
  paths = new Map([
    ['home', '/'],
    ['search', `/search?q=${search.text}`],
    ['milestone', `/milestone/${milestone.index}`],
    ['block', `/block/${block.id}`],
    ['transaction', `/transaction/${transaction.id}`],
    ['output', `/output/${output.id}`],
    ['address', `/address/${address.address}`],
    ...(['token', 'foundry', 'account', 'nft', 'anchor', 'delegation'] as const).map(
      (name) => [name, `/${name}/${variables[name].id}`] as const,
    ),
    ['validators', '/validators'],
    ['epoch', '/epoch/1'],
    ['chain', `/chain/${variables.chain.chainId}`],
    ...lists.map(([name]) => [name, `/${name}`] as const),
  ])
}, 120_000)
afterAll(async () => {
  await browser.close()
  await started.world.close()
})

/** The pages that are one list. */
const lists = [
  ['chains', 'ChainsPage', 'Chains'],
  ['milestones', 'MilestonesPage', 'Milestones'],
  ['blocks', 'BlocksPage', 'Blocks'],
  ['transactions', 'TransactionsPage', 'Transactions'],
  ['accounts', 'AccountsPage', 'Accounts'],
  ['tokens', 'TokensPage', 'Tokens'],
  ['nfts', 'NftsPage', 'NFTs'],
] as const

/** The operation of each page, and what its heading says. */
const pages = [
  ['home', 'Home', 'Ledger'],
  ['search', 'SearchPage', 'Search'],
  ['milestone', 'MilestonePage', 'Milestone'],
  ['block', 'BlockPage', 'Block'],
  ['transaction', 'TransactionPage', 'Transaction'],
  ['output', 'OutputPage', 'Output'],
  ['address', 'AddressPage', 'Address'],
  ['token', 'TokenPage', 'Token'],
  ['foundry', 'FoundryPage', 'Foundry'],
  ['account', 'AccountPage', 'Account'],
  ['nft', 'NftPage', 'NFT Pixel'],
  ['anchor', 'AnchorPage', 'Anchor'],
  ['delegation', 'DelegationPage', 'Delegation'],
  ['validators', 'ValidatorsPage', 'Validators'],
  ['epoch', 'ValidatorsPage', 'Epoch 1'],
  ['chain', 'ChainPage', 'Chain record'],
  ...lists,
] as const

const looks: readonly Look[] = [
  { width: 1280, theme: 'light' },
  { width: 360, theme: 'dark' },
]

/** All scripts and styles of the home page, compressed. */
const mostCodeBytes = 70 * 1024

/** How far the page reaches beyond the window. */
const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe.each(pages)('the page %s', (name, operation, heading) => {
  test('asks once, follows by one subscription, and nothing goes wrong', async () => {
    const { url } = started.world.gateway
    // A list is a table as on every other page: one look is enough.
    for (const look of lists.some(([list]) => list === name) ? looks.slice(1) : looks) {
      const tab = await openTab(browser, url, look)
      await tab.page.goto(url + present(paths.get(name), 'a path of the page'))
      const title = await tab.page.waitForSelector('h1')
      expect(await title?.evaluate((element) => element.textContent)).toContain(heading)
      await tab.page.waitForSelector('.link-live')
      expect(tab.operations).toEqual([`query ${operation}`, 'subscription NewMilestones'])
      expect(await accessibilityProblems(tab)).toEqual([])
      expect(tab.problems).toEqual([])
      expect(await tab.page.evaluate(tooWide)).toBeLessThanOrEqual(0)
      await tab.close()
    }
  }, 120_000)
})

test('home loads little', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, { width: 1280 })
  await tab.page.goto(url, { waitUntil: 'load' })
  // The chart is the last to be loaded.
  await tab.page.waitForSelector('.chart canvas')
  expect(tab.codeBytes()).toBeGreaterThan(20_000)
  expect(tab.codeBytes()).toBeLessThan(mostCodeBytes)
  await tab.close()
})

test('behind a path prefix the pages are found, and lead to each other', async () => {
  const proxy = await startPrefixProxy(started.world.gateway.url, '/ledger')
  const { port } = proxy.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const tab = await openTab(browser, `${origin}/ledger`, { width: 1280 })
  try {
    const transaction = present(paths.get('transaction'), 'a path')
    await tab.page.goto(`${origin}/ledger${transaction}`)
    await tab.page.waitForSelector('.link-live')
    await tab.page.waitForSelector('.flow a')
    await tab.page.click('.flow a')
    await tab.page.waitForSelector('.balance')
    expect(tab.page.url()).toContain(`${origin}/ledger/address/tst1`)
    await tab.page.reload()
    await tab.page.waitForSelector('.balance')
    await tab.page.click('.brand')
    await tab.page.waitForSelector('.figures')
    expect(tab.page.url()).toBe(`${origin}/ledger/`)
    expect(tab.problems).toEqual([])
  } finally {
    await tab.close()
    proxy.closeAllConnections()
    proxy.close()
  }
})

/** Serves a gateway below a path, and nothing beside it. */
async function startPrefixProxy(target: string, prefix: string): Promise<Server> {
  const proxy = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked
    if (!url.startsWith(`${prefix}/`)) {
      answer.writeHead(404).end()
      return
    }
    const options = method === undefined ? { headers } : { method, headers }
    const forwarded = request(target + url.slice(prefix.length), options, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      // The subscription has none but its head until something happens.
      answer.flushHeaders()
      response.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

describe('on the pages of chains', () => {
  test('a picture is there after a click, and asks no other host', async () => {
    const { url } = started.world.gateway
    const tab = await openTab(browser, url, looks[0] as Look)
    await tab.page.goto(url + present(paths.get('nft'), 'a path of the page'))
    const button = await tab.page.waitForSelector('main .button')
    expect(await tab.page.$('img')).toBeNull()
    await button?.click()
    await tab.page.waitForFunction('document.querySelector("img")?.naturalWidth === 1')
    expect(tab.problems).toEqual([])
    await tab.close()
  })

  test('a list is chosen from, and goes on on another page', async () => {
    const { url } = started.world.gateway
    const tab = await openTab(browser, url, looks[0] as Look)
    await tab.page.goto(`${url}/blocks`)
    await tab.page.waitForSelector('[data-row]')
    await tab.page.click('.choice a[href*="payload=TRANSACTION"]')
    await tab.page.waitForFunction(
      'document.querySelectorAll("[data-row] [data-head=Transaction] a").length === 50',
    )
    const first = () => tab.page.$eval('[data-row] a', (link) => link.textContent)
    const before = await first()
    await tab.page.click('.paging a')
    await tab.page.waitForFunction('location.search.includes("after=")')
    await tab.page.waitForFunction(
      `![undefined, "${before}"].includes(document.querySelector("[data-row] a")?.textContent)`,
    )
    expect(await tab.page.evaluate('location.search')).toContain('payload=TRANSACTION')
    await tab.page.evaluate('history.back()')
    await tab.page.waitForFunction(
      `document.querySelector("[data-row] a")?.textContent === "${before}"`,
    )
    expect(tab.problems).toEqual([])
    await tab.close()
  })
})
