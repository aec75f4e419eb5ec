import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import type { NftOutput } from '../../src/protocol/outputs.ts'
import type { Id, TransactionId } from '../../src/protocol/primitives.ts'
import { accessibilityProblems, openBrowser, openTab, type Tab } from '../support/browser.ts'
import { graphql } from '../support/client.ts'
import { type LedgerWorld, startWorld } from '../support/ledger-world.ts'
import { oddPaymentOf } from '../support/odd-outputs.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  genesisOutputs,
  issuer,
  ownedBy,
  paymentOf,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** A user operates the explorer with the keyboard alone. */

let world: LedgerWorld
let browser: Browser
let tab: Tab
let transactionId: TransactionId
let nftPath: string

/** The number of outputs that one address gets: three pages of a list. */
const outputCount = 25

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld(), openBrowser()])
  const { url } = world.gateway
  await untilHealth(url)
  const key = user(3)
  const moment = await world.moment()
  const [own] = await genesisOutputs(url, key)
  const given = Array.from({ length: outputCount }, () => ownedBy(user(4), 1_000_000n))
  const rest = ownedBy(key, 1_000_000_000n - BigInt(outputCount) * 1_000_000n - nft.amount)
  const made = oddPaymentOf(moment.offer.network, {
    spend: [present(own, 'an output of the genesis')],
    outputs: [nft, rest, ...given],
    creationSlot: moment.slot,
    unlock: (hash) => [{ type: 0, signature: key.sign(hash) }],
  })
  await world.submit(moment, made.payload)
  await world.pass(6)
  transactionId = made.transactionId
  const { data } = await graphql(url, '{ nfts(first: 1) { nodes { nftId } } }')
  nftPath = `/nft/${data.nfts.nodes[0].nftId}`
})
afterAll(async () => {
  await browser.close()
  await world.close()
})
beforeEach(async () => {
  tab = await openTab(browser, world.gateway.url, { width: 1280 })
  return () => tab.close()
})

/** A name that ends the isolation around it, and turns the text after it. */
const name = 'A\u2069\u202etxt'

/** An NFT whose metadata is a table without links. */
const nft: NftOutput = {
  ...{ type: 4, amount: 10_000_000n, mana: 0n, nftId: `0x${'00'.repeat(32)}` as Id<'NftId'> },
  unlockConditions: ownedBy(user(3), 0n).unlockConditions as NftOutput['unlockConditions'],
  features: [],
  immutableFeatures: [
    {
      type: 2,
      entries: [
        { key: 'irc27', value: bytesToHex(Buffer.from(JSON.stringify({ name, type: 'B' }))) },
      ],
    },
  ],
}

async function open(path: string): Promise<void> {
  await tab.page.goto(world.gateway.url + path)
  await tab.page.waitForSelector('.link-live')
  await tab.page.waitForSelector('h1')
}

/** The section of the focused element. */
function sectionOfFocus(): Promise<unknown> {
  return tab.page.evaluate('document.activeElement.closest("section")?.ariaLabel')
}

test('j passes rows that are hidden or have no link', async () => {
  await open('/')
  // The first rows of the page are those of the closed table of the chart.
  expect(await tab.page.$$('details:not([open]) [data-row]')).not.toEqual([])
  await tab.page.keyboard.press('j')
  expect(await sectionOfFocus()).toBe('Milestones')
  await open(nftPath)
  await tab.page.waitForSelector('section[aria-label="Immutable metadata"] [data-row]')
  await tab.page.keyboard.press('j')
  expect(await sectionOfFocus()).toBe('Owners')
})

test('arrows move through the suggestions from both ends, and Escape leaves them', async () => {
  await open('/')
  await tab.page.focus('#search')
  // The account and its address.
  await tab.page.keyboard.type(issuer.accountId)
  const options = () => tab.page.$$('[role="option"]')
  await until(async () => (await options()).length === 2, { what: 'suggestions' })
  const active = () =>
    tab.page.$eval('#search', (field) => field.getAttribute('aria-activedescendant'))
  const moves = [
    ['ArrowUp', 1],
    ['ArrowUp', 0],
    ['ArrowDown', 1],
    ['ArrowDown', 0],
  ] as const
  for (const [key, expected] of moves) {
    await tab.page.keyboard.press(key)
    expect(await active()).toBe(`suggestion-${expected}`)
  }
  await tab.page.keyboard.press('Escape')
  expect(await active()).toBeNull()
})

test('a screen reader is told that nothing was found', async () => {
  await open('/')
  const region = '.search [role="status"]'
  await tab.page.evaluate(`window.region = document.querySelector('${region}')`)
  await tab.page.focus('#search')
  await tab.page.keyboard.type('zzzz')
  const said = () => tab.page.$$eval(region, ([one]) => one?.textContent ?? '')
  await until(async () => (await said()) !== '', { what: 'a sentence' })
  expect(await tab.page.evaluate(`window.region?.matches('${region}')`)).toBe(true)
})

test('no page opens behind the list of the keys', async () => {
  await open('/')
  await tab.page.keyboard.press('?')
  await tab.page.waitForSelector('dialog[open]')
  for (const key of ['g', 'b', 't'] as const) await tab.page.keyboard.press(key)
  const state = () =>
    tab.page.evaluate(() => [
      location.pathname,
      document.documentElement.dataset.theme ?? 'auto',
      document.querySelector('dialog')?.open,
    ])
  expect(await state()).toEqual(['/', 'auto', true])
  await tab.page.keyboard.press('Escape')
  for (const key of ['g', 'b'] as const) await tab.page.keyboard.press(key)
  await expect.poll(state).toEqual(['/blocks', 'auto', false])
})

test('the keys can be turned off, and stay off after a reload', async () => {
  const { page } = tab
  const box = 'dialog input[type="checkbox"]'
  const state = () =>
    page.evaluate(() => [
      location.pathname,
      document.querySelector('dialog')?.open,
      document.activeElement?.id,
      document.querySelectorAll('.search kbd').length,
    ])
  const press = async () => {
    for (const key of ['g', 'b', '?', '/'] as const) await page.keyboard.press(key)
  }
  await open('/')
  await page.keyboard.press('?')
  await page.click(box)
  await page.keyboard.press('Escape')
  const before = await state()
  expect(before).toEqual(['/', false, expect.any(String), 0])
  await press()
  expect(await state()).toEqual(before)
  await page.reload()
  await page.waitForSelector('.link-live')
  await press()
  expect(await state()).toEqual(['/', false, '', 0])
  await page.click('.header .icon-button')
  expect(await page.$eval(box, (one) => (one as HTMLInputElement).checked)).toBe(false)
  await page.click(box)
  await page.keyboard.press('Escape')
  for (const key of ['g', 'b', '?'] as const) await page.keyboard.press(key)
  await expect.poll(state).toEqual(['/blocks', true, expect.any(String), 1])
})

test('a paused page stays as it is and counts the milestones that wait', async () => {
  const { page } = tab
  await open('/milestones')
  await page.waitForSelector('[data-row]')
  const button = '.status button'
  const shown = () =>
    page.evaluate(() =>
      ['[data-row]', '.strip a', '.status > :nth-child(2)'].map(
        (one) => document.querySelector(one)?.textContent,
      ),
    )
  const places = () =>
    page.$$eval('.status > *', (all) =>
      all.map((one) => Object.values(one.getBoundingClientRect().toJSON())),
    )
  const layout = await places()
  await page.focus(button)
  await page.keyboard.press('Enter')
  await page.waitForFunction('document.querySelector("#currency")?.textContent === "paused: 0 new"')
  // Read after the pause: the ages of the milestones change every second before.
  const before = await shown()
  await world.pass(3)
  await page.waitForFunction('document.querySelector("#currency")?.textContent === "paused: 3 new"')
  expect(await shown()).toEqual(before)
  expect(await places()).toEqual(layout)
  expect(await accessibilityProblems(tab)).toEqual([])
  await page.keyboard.press('Enter')
  await until(async () => (await shown())[0] !== before[0], { what: 'the waiting milestones' })
  expect(await page.$eval(button, (one) => [one.textContent, one.matches(':focus')])).toEqual([
    'Pause updates',
    true,
  ])
})

test('a page that is opened while pages are paused shows the ledger as of then', async () => {
  const { page } = tab
  await open('/milestones')
  await page.click('.status button')
  await world.pass(2)
  await page.waitForFunction('document.querySelector("#currency")?.textContent === "paused: 2 new"')
  await page.click('.nav a[href="/blocks"]')
  await page.waitForFunction('document.querySelector("#currency")?.textContent === "paused: 0 new"')
})

test('a resumed page shows a change that was committed before the newest milestone', async () => {
  const { page } = tab
  const { data } = await graphql(
    world.gateway.url,
    'query ($address: String!) { address(address: $address) { unspentOutputs(first: 1) { nodes { outputId amount } } } }',
    { address: addressOf(user(4)) },
  )
  const [{ outputId, amount }] = data.address.unspentOutputs.nodes
  await open(`/output/${outputId}`)
  const state = () => page.$eval('.state', (one) => one.textContent)
  await page.waitForSelector('.state')
  expect(await state()).toContain('unspent')
  await page.click('.status button')
  const moment = await world.moment()
  const key = user(4)
  const { payload } = paymentOf(moment.offer.network, {
    ...{ spend: outputId, key, outputs: [ownedBy(key, BigInt(amount))], creationSlot: moment.slot },
  })
  await world.submit(moment, payload)
  const slot = await world.pass(8)
  expect(slot).toBeGreaterThan(moment.slot)
  await page.waitForFunction('document.querySelector("#currency")?.textContent === "paused: 8 new"')
  expect(await state()).toContain('unspent')
  await page.click('.status button')
  await until(async () => !(await state())?.includes('unspent'), { what: 'the spent output' })
})

test('a name with characters that turn text turns neither the title nor the text after it', async () => {
  await open(nftPath)
  expect(await tab.page.title()).toBe('NFT Atxt · Ledger Gateway')
  /** The text of an element in the order in which it is seen. */
  const seen = (selector: string) =>
    tab.page.$eval(selector, (element) => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      const places: (readonly [number, string])[] = []
      while (texts.nextNode()) {
        const node = texts.currentNode as Text
        for (let at = 0; at < node.length; at++) {
          const range = document.createRange()
          range.setStart(node, at)
          range.setEnd(node, at + 1)
          places.push([range.getBoundingClientRect().left, range.toString()])
        }
      }
      return places
        .toSorted(([one], [other]) => one - other)
        .map(([, text]) => text)
        .join('')
    })
  expect(await seen('h1')).toBe('NFT Atxt')
  // The text of a user may be anywhere in a sentence.
  await tab.page.$eval('h1', (one) => one.append(' and more'))
  expect(await seen('h1')).toBe('NFT Atxt and more')
  await open('/nfts')
  expect(await seen('[data-row] [data-head="Name"]')).toBe('Atxt')
  await open(`/search?q=${encodeURIComponent(name)}`)
  expect(await seen('h1')).toBe('Search: Atxt')
  expect(await tab.page.title()).toBe('Atxt · Ledger Gateway')
})

test('the focus stays in a live list when its row leaves', async () => {
  await open('/')
  const rows = 'section[aria-label="Milestones"] [data-row]'
  const oldest = await tab.page.$eval(`${rows}:last-child a`, (link) => {
    link.focus()
    return link.textContent
  })
  await world.pass(2)
  await until(
    async () => (await tab.page.$eval(`${rows}:last-child a`, (one) => one.textContent)) !== oldest,
    { what: 'another oldest milestone' },
  )
  expect(await tab.page.$eval(`${rows}:last-child a`, (one) => one.matches(':focus'))).toBe(true)
})

test('the focus stays at a list that continues on another page', async () => {
  await open(`/address/${addressOf(user(4))}`)
  const list = 'section[aria-label="Unspent outputs"]'
  await tab.page.focus(`${list} .paging a`)
  await tab.page.keyboard.press('Enter')
  await until(async () => (await tab.page.$$(`${list} .paging a`)).length === 2, {
    what: 'the second page',
  })
  await until(async () => (await sectionOfFocus()) === 'Unspent outputs', { what: 'the focus' })
  await tab.page.keyboard.press('Tab')
  expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('First page')
})

test('c confirms a copy at its id, and nothing is confirmed that was not copied', async () => {
  await open(`/transaction/${transactionId}`)
  await tab.page.evaluate(`{
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => window.mayCopy
  }`)
  await tab.page.focus('main .flow .id a')
  await tab.page.keyboard.press('c')
  await tab.page.click('main > .id .copy')
  expect(await tab.page.$$('.copied')).toEqual([])
  await tab.page.evaluate('window.mayCopy = true')
  await tab.page.focus('main .flow .id a')
  await tab.page.keyboard.press('c')
  await tab.page.waitForSelector('.id:focus-within .copied')
})
