import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'puppeteer-core'
import { type Look, openBrowser, openTab } from './browser.ts'
import { startChainWorld } from './chain-world.ts'
import { graphql } from './client.ts'
import { variablesIn } from './explorer-pages.ts'

/** `npm run screenshots`: takes the screenshots of `docs/explorer.md`, on a ledger with objects of every kind. */

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))

/** The richest address has a history and unspent outputs. */
const newest =
  '{ addresses(first: 1) { nodes { bech32 unspentOutputs(first: 1) { nodes { outputId } } } } }'

const started = await startChainWorld({ players: 50, rounds: 9 })
const browser = await openBrowser()
try {
  const variables = await variablesIn(started)
  const { transaction, block, output, milestone, account, token, decode } = variables
  const { data } = await graphql(started.world.gateway.url, newest)
  const [owner] = data.addresses.nodes
  const look: Look = { width: 1280, height: 860 }
  const narrow: Look = { width: 360, height: 780, theme: 'dark' }
  const unspent = `/output/${owner.unspentOutputs.nodes[0].outputId}`
  const field = '.byte-fields [data-field="6"]'
  const shots: readonly Shot[] = [
    { name: 'home', path: '/', look },
    { name: 'home-dark', path: '/', look: { ...look, theme: 'dark' } },
    { name: 'transaction', path: `/transaction/${transaction.id}`, look },
    { name: 'address', path: `/address/${owner.bech32}`, look },
    { name: 'output', path: `/output/${output.id}`, look },
    { name: 'proof', path: unspent, look, clicked: '.proof-ask button' },
    { name: 'block', path: `/block/${block.id}`, look, clicked: field },
    { name: 'decode', path: `/decode#${decode.input.bytes}`, look },
    { name: 'account', path: `/account/${account.id}`, look },
    { name: 'token', path: `/token/${token.id}`, look },
    { name: 'validators', path: '/validators', look },
    { name: 'rich', path: '/rich', look },
    { name: 'gateway', path: '/health-page', look },
    { name: 'milestone-narrow', path: `/milestone/${milestone.index}`, look: narrow },
  ]
  for (const shot of shots) await takeOne(browser, shot)
} finally {
  await browser.close()
  await started.world.close()
}

interface Shot {
  readonly name: string
  readonly path: string
  readonly look: Look
  /** The selector of an element to click and to scroll into view. */
  readonly clicked?: string
}

async function takeOne(from: Browser, { name, path, look, clicked }: Shot): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const { url } = started.world.gateway
  const { page, close } = await openTab(from, url, look)
  await page.goto(url + path, { waitUntil: 'load' })
  await page.waitForSelector('h1')
  await page.waitForSelector('.link-live')
  if (path === '/') await page.waitForSelector('.chart canvas')
  if (clicked !== undefined) {
    await page.waitForSelector(clicked)
    await page.click(clicked)
    await page.waitForNetworkIdle({ concurrency: 1, idleTime: 500 })
    await page.$eval(clicked, (element) => element.closest('section')?.scrollIntoView())
    await page.evaluate('scrollBy(0, -160)')
  }
  await page.screenshot({ path: `${folder}${name}.webp`, type: 'webp', quality: 80 })
  await close()
}
