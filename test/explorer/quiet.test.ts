import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import type { Keypair } from '../../src/protocol/keys.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import type { SlotIndex } from '../../src/protocol/primitives.ts'
import { heldAnswer, openBrowser, openTab, type Tab } from '../support/browser.ts'
import { graphql } from '../support/client.ts'
import { type LedgerWorld, startWorld, worldParameters } from '../support/ledger-world.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  genesisOutputs,
  ownedBy,
  paymentOf,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** A user watches a ledger that rarely changes, so that no later change repairs a page. */

let world: LedgerWorld
let browser: Browser
let tab: Tab

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startWorld(), openBrowser()])
  await untilHealth(world.gateway.url)
  tab = await openTab(browser, world.gateway.url, { width: 1280 })
})
afterAll(async () => {
  await browser.close()
  await world.close()
})

/** The amount of each output of the genesis. */
const amount = 1_000_000_000n

/** Pays the whole output that a key has since the genesis, and returns the id of the transaction and its slot. */
async function pay(from: Keypair, output: BasicOutput) {
  const moment = await world.moment()
  const [own] = await genesisOutputs(world.gateway.url, from)
  const { payload, transactionId, created } = paymentOf(moment.offer.network, {
    ...{ spend: present(own, 'an output of the genesis'), key: from, outputs: [output] },
    creationSlot: moment.slot,
  })
  await world.submit(moment, payload)
  return { transactionId, outputId: present(created[0], 'an output'), slot: moment.slot }
}

/** Opens a page without loading the explorer again. */
async function follow(path: string): Promise<void> {
  await tab.page.evaluate((to) => {
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

async function text(selector: string): Promise<string> {
  const found = await tab.page.$(selector)
  return (await found?.evaluate(({ textContent }) => textContent)) ?? ''
}

async function untilText(selector: string, expected: string | RegExp): Promise<void> {
  await until(async () => (await text(selector)).match(expected) !== null, {
    what: `${selector} contains ${expected}`,
  })
}

/** Waits until the status line shows a milestone. */
async function untilShown(slot: SlotIndex): Promise<void> {
  const shown = async () => Number((await text('.status a')).replaceAll(/\D/g, ''))
  await until(async () => (await shown()) >= slot, { what: `the page has milestone ${slot}` })
}

async function openHome(): Promise<void> {
  await tab.page.goto(`${world.gateway.url}/`)
  await tab.page.waitForSelector('.link-live')
}

test('a page shows a change that is committed while its first answer is on its way', async () => {
  await openHome()
  const { slot } = await pay(user(1), ownedBy(user(2), amount))
  const answer = await heldAnswer(tab, 'query AddressPage')
  await follow(`/address/${addressOf(user(2))}`)
  await answer.isHeld()
  await untilShown(await world.pass(4))
  expect(slot).toBeLessThanOrEqual(await world.pass(0))
  await answer.release()
  await untilText('section[aria-label="History"]', '2 in total')
})

test('pages show the end of a timelock and an expiration, which no update reports', async () => {
  const moment = await world.moment()
  const end = moment.slot + 12
  const [{ unlockConditions: owned }, returned] = [ownedBy(user(4), amount), ownedBy(user(5), 0n)]
  const locked: BasicOutput = {
    ...ownedBy(user(4), amount),
    unlockConditions: [...owned, { type: 2, slot: end }],
  }
  const [condition] = returned.unlockConditions
  const returnAddress = present(condition?.type === 0 ? condition.address : undefined, 'an address')
  const expiring: BasicOutput = {
    ...ownedBy(user(6), amount),
    unlockConditions: [
      ...ownedBy(user(6), amount).unlockConditions,
      { type: 3, returnAddress, slot: end },
    ],
  }
  await pay(user(3), locked)
  const { outputId } = await pay(user(7), expiring)
  await world.pass(6)

  const own = await openTab(browser, world.gateway.url, { width: 1280 })
  const heir = await openTab(browser, world.gateway.url, { width: 1280 })
  const { url } = world.gateway
  await tab.page.goto(`${url}/address/${addressOf(user(4))}`)
  await own.page.goto(`${url}/output/${outputId}`)
  await heir.page.goto(`${url}/address/${addressOf(user(5))}`)
  for (const { page } of [tab, own, heir]) await page.waitForSelector('.link-live')
  await untilText('.balance-parts', 'Timelocked')
  const owner = () => own.page.$eval('.facts dd a', (link) => link.title)
  const total = () => heir.page.$eval('.balance-total data', (one) => one.getAttribute('value'))
  expect(await owner()).toBe(addressOf(user(6)))
  expect(await total()).toBe(String(amount))

  await world.pass(12)
  await until(async () => (await owner()) === addressOf(user(5)), { what: 'the new owner' })
  await until(async () => (await total()) === String(2n * amount), { what: 'the new balance' })
  await until(async () => !(await text('.balance-parts')).includes('Timelocked'), {
    what: 'the end of the timelock',
  })
  expect([...tab.problems, ...own.problems, ...heir.problems]).toEqual([])
  await own.close()
  await heir.close()
})

test('the page of a transaction is requested again only while its outputs may change', async () => {
  const key = user(5)
  const payOn = async ({ outputId: spend }: Pick<Awaited<ReturnType<typeof pay>>, 'outputId'>) => {
    const moment = await world.moment()
    const outputs = [ownedBy(key, amount)]
    const payment = { spend, key, outputs, creationSlot: moment.slot }
    const { payload, transactionId, created } = paymentOf(moment.offer.network, payment)
    await world.submit(moment, payload)
    await world.pass(6)
    return { transactionId, outputId: present(created[0], 'an output') }
  }
  const first = await pay(key, ownedBy(key, amount))
  await world.pass(6)
  const second = await payOn(first)
  const requests = () => tab.operations.filter((one) => one === 'query TransactionPage').length
  let newest = second
  const repeated = async (id: string) => {
    await tab.page.goto(`${world.gateway.url}/transaction/${id}`)
    await untilText('.sentence', 'Moved')
    await tab.page.waitForSelector('.link-live')
    const before = requests()
    newest = await payOn(newest)
    await untilShown(await world.pass(0))
    return requests() - before
  }
  expect(await repeated(first.transactionId)).toBe(0)
  expect(await repeated(newest.transactionId)).toBeGreaterThan(0)
})

test('a search without an answer yet opens nothing once another page is open', async () => {
  await openHome()
  const answer = await heldAnswer(tab, 'query SearchPage')
  await tab.page.focus('#search')
  await tab.page.evaluate(
    (value) => Object.assign(document.activeElement ?? {}, { value }),
    addressOf(user(1)),
  )
  await tab.page.keyboard.press('Enter')
  await answer.isHeld()
  await tab.page.click('.nav a[href="/blocks"]')
  await untilText('h1', 'Blocks')
  await answer.release()
  expect(await text('h1')).toBe('Blocks')
  expect(await tab.page.evaluate('location.pathname')).toBe('/blocks')
})

test('a number is found with the spaces that pages print between its digits', async () => {
  const [digit, ...digits] = String(await world.pass(4))
  await openHome()
  await tab.page.focus('#search')
  await tab.page.keyboard.type(`${digit}\u202f${digits.join('')}`)
  await tab.page.keyboard.press('Enter')
  await until(async () => (await tab.page.evaluate('location.pathname')) !== '/', {
    what: 'the page of the result',
  })
  expect(await tab.page.evaluate('location.pathname')).toBe(`/milestone/${digit}${digits.join('')}`)
})

test.each([
  ['the field loses the focus', () => tab.page.evaluate('document.activeElement.blur()')],
  ['Escape is pressed', () => tab.page.keyboard.press('Escape')],
  ['another page is opened', () => follow('/chains')],
])('suggestions do not appear after %s', async (_name, act) => {
  await openHome()
  const answer = await heldAnswer(tab, 'query SearchPage')
  await tab.page.focus('#search')
  await tab.page.keyboard.type('1')
  await answer.isHeld()
  await act()
  await answer.release()
  expect(await tab.page.$$('.suggestions:not([hidden])')).toEqual([])
})

test('the page of a transaction whose inputs are not known says so', async () => {
  const { transactionId } = await pay(user(8), ownedBy(user(9), amount))
  await world.pass(4)
  await tab.page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const response = await send(...request)
      if (!String(request[1]?.body).includes('query TransactionPage')) return response
      const answer = await response.json()
      if (answer.data?.transaction) answer.data.transaction.changes = null
      return new Response(JSON.stringify(answer), { headers: response.headers })
    }
  }`)
  await tab.page.goto(`${world.gateway.url}/transaction/${transactionId}`)
  await untilText('.sentence', 'does not know the inputs')
})

test.each([
  ['RATE_LIMIT_EXCEEDED', 429],
  ['GATEWAY_OVERLOADED', 503],
])('a page that was refused once by %s appears without a click', async (code, status) => {
  await openHome()
  await tab.page.evaluate(
    (refusal, refused) => {
      const send = window.fetch
      window.fetch = async (...request) => {
        if (!String(request[1]?.body).includes('query AccountsPage')) return await send(...request)
        window.fetch = send
        return new Response(refusal, { status: refused })
      }
    },
    JSON.stringify({ errors: [{ message: 'try again in 1 second', extensions: { code } }] }),
    status,
  )
  await tab.page.click('.nav a[href="/accounts"]')
  await untilText('h1', 'could not be loaded')
  await untilText('h1', 'Accounts')
})

test('an epoch that begins while the page is open becomes a link', async () => {
  await tab.page.goto(`${world.gateway.url}/network`)
  await tab.page.waitForSelector('.link-live')
  const link = () => tab.page.$$eval('a.epoch', ([one]) => one?.textContent)
  const before = Number(await link())
  await world.pass(2 ** worldParameters.slotsPerEpochExponent)
  await until(async () => Number(await link()) === before + 1, { what: 'a link to the next epoch' })
})

test('the chart and its table have the same times, whatever the time zone of the browser', async () => {
  const { url } = world.gateway
  const { data } = await graphql(url, '{ activity(resolution: MINUTE) { start } }')
  const times = data.activity.map(({ start }: { start: string }) => start.slice(11, 16))
  const own = await openTab(browser, url, { width: 1280 })
  await own.page.emulateTimezone('Asia/Kolkata')
  await own.page.evaluateOnNewDocument(`{
    const { prototype } = CanvasRenderingContext2D
    const draw = prototype.fillText
    window.drawn = []
    prototype.fillText = function (text, ...rest) {
      window.drawn.push(text)
      draw.call(this, text, ...rest)
    }
  }`)
  await own.page.goto(url)
  await own.page.waitForSelector('.chart canvas')
  const drawn = async () => (await own.page.evaluate('window.drawn')) as readonly string[]
  const labels = await until(async () => {
    const found = (await drawn()).filter((label) => /^\d\d:\d\d$/.test(label))
    return found.length > 0 && found
  })
  expect(labels.filter((label) => !times.includes(label))).toEqual([])
  await own.close()
})

test('the seconds of an interruption are counted although the clocks of browser and gateway differ', async () => {
  await openHome()
  const region = '.link [role="status"]'
  await tab.page.evaluate(`window.region = document.querySelector('${region}')`)
  await world.gateway.close()
  await untilText('.link', /^reconnecting, [1-9] s$/)
  // A screen reader announces a text that changes in the same element, and not the seconds.
  await untilText(region, /^reconnecting$/)
  expect(await tab.page.evaluate(`window.region.matches('${region}')`)).toBe(true)
})
