import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { openBrowser, openTab, type Tab } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** The page of a transaction with long amounts in narrow windows. */

let gateway: TestGateway
let browser: Browser
let path: string

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([startGateway(), openBrowser()])
  await untilHealth(gateway.url)
  const offer = await offerOf(gateway.url)
  const [own] = await genesisOutputs(gateway.url, user(5))
  const { payload, transactionId } = paymentOf(offer.network, {
    spend: present(own, 'an output of the genesis'),
    key: user(5),
    outputs: [ownedBy(user(6), 400_000_000n), ownedBy(user(5), 600_000_000n)],
    creationSlot: slotNow(offer.network),
  })
  await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
  path = `/transaction/${transactionId}`
}, 60_000)
afterAll(async () => {
  await browser.close()
  await gateway.close()
})

test.each([320, 360, 840, 1000, 1280])('amounts of 19 digits fit into %i pixels', async (width) => {
  const tab = await openTab(browser, gateway.url, { width })
  await enlargeAmounts(tab)
  await tab.page.goto(gateway.url + path)
  await tab.page.waitForSelector('.link-live')
  const lines = await tab.page.$$eval('.flow-line', (all) =>
    all.map((one) => [one.textContent, one.scrollWidth - one.clientWidth] as const),
  )
  expect(lines.filter(([text]) => text?.includes('9\u202f223\u202f372'))).not.toEqual([])
  expect(lines.filter(([, excess]) => excess > 0)).toEqual([])
  await tab.close()
})

/** Makes all amounts that the gateway sends to a tab as long as possible. */
async function enlargeAmounts({ page }: Tab): Promise<void> {
  await page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const response = await send(...request)
      if (!response.headers.get('content-type')?.includes('json')) return response
      const text = await response.text()
      const long = text.replaceAll(/"(amount|storedMana)":"\\d+"/g, '"$1":"9223372036854775807"')
      return new Response(long, { headers: response.headers })
    }
  }`)
}
