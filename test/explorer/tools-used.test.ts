import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readExplorer } from '../../src/api/explorer.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import {
  accessibilityProblems,
  heldAnswer,
  openBrowser,
  openTab,
  type Tab,
} from '../support/browser.ts'
import { graphql } from '../support/client.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
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

/** A developer uses the tools to debug a wallet on a development network. */

const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
let gateway: TestGateway
let browser: Browser
let tab: Tab

beforeAll(async () => {
  // A manifest without the documents of the explorer, which must still work.
  const manifest = join(folder, 'documents.json')
  writeFileSync(manifest, JSON.stringify({ own: '{ __typename }' }))
  const env = { TRUSTED_DOCUMENTS: manifest, DRAIN_DELAY: '0' }
  ;[gateway, browser] = await Promise.all([startGateway({ env }), openBrowser()])
  await untilHealth(gateway.url)
  tab = await openTab(browser, gateway.url, { width: 1280 })
})
afterAll(async () => {
  await browser.close()
  await gateway.close()
  rmSync(folder, { recursive: true })
})

test('documents outside the manifest are rejected, except those of the explorer', async () => {
  const { data, errors } = await graphql(gateway.url, '{ status { lagSeconds } }')
  expect(data).toBeUndefined()
  expect(errors?.[0]?.extensions.code).toBe('DOCUMENT_NOT_TRUSTED')
  const explorer = present(await readExplorer(), 'the explorer')
  const frame = explorer.documents.find((text) => text.startsWith('query Frame'))
  expect((await graphql(gateway.url, present(frame, 'a document'))).data.frame.role).toBe('WRITER')
})

/** Creates a payment of a genesis output. It fails unless the amount is that of the output. */
async function payment(amount: bigint) {
  const offer = await offerOf(gateway.url)
  const [spend] = await genesisOutputs(gateway.url, user(1))
  const { payload } = paymentOf(offer.network, {
    spend: present(spend, 'an output'),
    key: user(1),
    outputs: [ownedBy(user(2), amount)],
    creationSlot: slotNow(offer.network),
  })
  const { bytes, blockId } = blockOf(offer, payload)
  return { bytes: bytesToHex(bytes), blockId, json: print(SignedTransaction, payload) }
}

async function paste(text: Hex | string): Promise<void> {
  await tab.page.$eval(
    '#pasted',
    (area, value) => {
      ;(area as unknown as { value: string }).value = value
    },
    text,
  )
  await tab.page.click('.paste [type="submit"]')
}

const mainText = () => tab.page.$eval('main', ({ textContent }) => textContent ?? '')

async function untilSays(expected: string): Promise<void> {
  await until(async () => (await mainText()).includes(expected), { what: `"${expected}"` })
}

test('a transaction is decoded and verified, a block is sent, and the faucet pays', async () => {
  const { page } = tab
  await page.goto(`${gateway.url}/decode`)
  await page.waitForSelector('#pasted')
  await paste('{"type": ')
  await untilSays('This is not valid JSON: ')

  const poor = await payment(999_999_999n)
  await paste(JSON.stringify(poor.json))
  await untilSays('Signed transaction')
  // JSON is shown as its serialized bytes, with the amount in the unit of the token and its bytes marked.
  const amount = '.byte-field:has([title="999999999"])'
  expect(await page.$eval(amount, ({ textContent }) => textContent)).toMatch(/999\.999999 /)
  await page.hover(amount)
  await page.waitForSelector('.bytes .marked')
  expect(await page.$eval('.bytes .marked', ({ textContent }) => textContent)).toBe(
    'ff c9 9a 3b 00 00 00 00',
  )
  expect(await page.$$eval('button', (all) => all.map((one) => one.textContent))).not.toContain(
    'Submit block',
  )
  await page.click('a[href*="/verify#"]')
  await untilSays('Rule 14, InputOutputBaseTokenMismatch')
  expect(await page.$$eval('.rules .state-done', (rules) => rules.length)).toBe(5)
  expect(await page.$$eval('.rules .state-failed', (rules) => rules.length)).toBe(1)

  // The URL contains the input.
  await page.goBack()
  await untilSays('Signed transaction')
  const right = await payment(1_000_000_000n)
  await paste(right.bytes)
  await untilSays('No rule of form is broken.')
  await page.click('main section .button')
  await page.waitForFunction(`location.pathname === "/block/${right.blockId}"`)
  await page.waitForFunction('document.querySelector("h1")?.textContent === "Block"')

  await page.goto(`${gateway.url}/faucet?address=smr1qq`)
  await page.waitForSelector('#receiver')
  await page.click('.paste [type="submit"]')
  await untilSays('This is not a valid id')
  await page.goto(`${gateway.url}/faucet?address=${addressOf(user(3))}`)
  await page.waitForSelector('#receiver')
  await page.click('.paste [type="submit"]')
  await untilSays('Paid by transaction')
  expect(tab.problems).toEqual([])
})

test('a submitted block does not open its page once another page is open', async () => {
  const { page } = tab
  await page.goto(`${gateway.url}/decode`)
  await page.waitForSelector('#pasted')
  await paste((await payment(1_000_000_000n)).bytes)
  await untilSays('No rule of form is broken.')
  const answer = await heldAnswer(tab, 'mutation SubmitBlock')
  await page.click('main section .button')
  await answer.isHeld()
  await page.click('.nav a[href="/blocks"]')
  await page.waitForFunction('document.querySelector("h1")?.textContent === "Blocks"')
  await answer.release()
  expect(await page.evaluate('location.pathname')).toBe('/blocks')
})

test('an invalid id or list position is reported on the page and not in the console', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  const noId = /This is not a valid id/
  const noPart = /The list has no such page.*First page/
  const paths = [
    ['block/0x12', noId],
    ['milestone/soon', noId],
    ['blocks?issuer=0x1', noId],
    ['address/tst1', noId],
    ['chain/tst1', noId],
    ['nfts?issuer=tst1', noId],
    ['blocks?after=zzz', noPart],
    [`address/${addressOf(user(4))}?after=zzz`, noPart],
    [`address/${addressOf(user(4))}?outputsAfter=zzz`, noPart],
  ] as const
  const says = () => own.page.$eval('main', ({ textContent }) => textContent ?? '')
  for (const [path, sentence] of paths) {
    await own.page.goto(`${gateway.url}/${path}`)
    await own.page.waitForSelector('.link-live')
    await until(async () => sentence.test(await says()), {
      what: `a sentence at ${path}`,
    })
  }
  expect(own.problems).toEqual([])
  await own.close()
})

test('a list stays while the database is away, and one that is opened then says so', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = own
  await page.goto(`${gateway.url}/blocks`)
  await page.waitForSelector('[data-row]')
  // Answers as a gateway without its database does.
  await page.evaluate(`{
    const send = window.fetch
    const away = { message: 'away', extensions: { code: 'STORE_AWAY' } }
    window.refused = []
    window.fetch = async (...request) => {
      const [, list] = /query (Blocks|Tokens)Page/.exec(request[1].body) ?? []
      if (list === undefined || window.isBack) return await send(...request)
      window.refused.push(list)
      const field = list.toLowerCase()
      return Response.json({ data: { [field]: null }, errors: [{ ...away, path: [field] }] })
    }
  }`)
  await page.waitForFunction(`window.refused.length > 2`)
  expect((await page.$$('[data-row]')).length).toBeGreaterThan(0)
  await opensTokensAfter(own, 'its database does not respond')
})

test('a page that a proxy answers says so until the gateway is back', async () => {
  const own = await openTab(browser, gateway.url, { width: 1280 })
  await own.page.goto(`${gateway.url}/blocks`)
  await own.page.evaluate(`{
    const send = window.fetch
    window.fetch = async (...request) =>
      request[1].body.includes('query TokensPage') && !window.isBack
        ? new Response('', { status: 503 })
        : await send(...request)
  }`)
  await opensTokensAfter(own, 'The gateway does not respond')
})

/** Opens the tokens, whose request fails until `window.isBack` is set: the page says why, and then shows them. Closes the tab. */
async function opensTokensAfter(own: Tab, sentence: string): Promise<void> {
  const { page } = own
  const says = () => page.$eval('main', ({ textContent }) => textContent ?? '')
  await page.click('.nav a[href="/tokens"]')
  await until(async () => (await says()).includes(sentence))
  await page.evaluate('window.isBack = true')
  await until(async () => /^Tokens/.test(await says()))
  expect(own.problems).toEqual([])
  await own.close()
}

test('the health page of a gateway that is not ready shows each reason with its sentence', async () => {
  const { page } = tab
  await gateway.announceStop()
  await page.goto(`${gateway.url}/health-page`)
  await untilSays('The gateway is not healthy.')
  const reasons = await page.$$eval('.reasons li', (all) => all.map((one) => one.textContent))
  expect(reasons).toEqual(['The gateway is about to stop. CLOSING'])
  expect(await accessibilityProblems(tab)).toEqual([])
})
