import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'puppeteer-core'
import { type Look, openBrowser, openTab } from './browser.ts'
import { startChainWorld } from './chain-world.ts'
import { variablesIn } from './explorer-pages.ts'

/** `npm run screenshots`: the pictures of `docs/explorer.md`, of a ledger with everything in it. */

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))

const started = await startChainWorld({ players: 50, rounds: 9 })
const browser = await openBrowser()
try {
  const { transaction, address, output, milestone } = await variablesIn(started)
  const wide: Look = { width: 1280, height: 860 }
  await takeOne(browser, 'home', '/', wide)
  await takeOne(browser, 'home-dark', '/', { ...wide, theme: 'dark' })
  await takeOne(browser, 'transaction', `/transaction/${transaction.id}`, wide)
  await takeOne(browser, 'address', `/address/${address.address}`, wide)
  await takeOne(browser, 'output', `/output/${output.id}`, wide)
  const narrow: Look = { width: 360, height: 780, theme: 'dark' }
  await takeOne(browser, 'milestone-narrow', `/milestone/${milestone.index}`, narrow)
} finally {
  await browser.close()
  await started.world.close()
}

async function takeOne(from: Browser, name: string, path: string, look: Look): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const { url } = started.world.gateway
  const { page, close } = await openTab(from, url, look)
  await page.goto(url + path, { waitUntil: 'load' })
  await page.waitForSelector('h1')
  await page.waitForSelector('.link-live')
  if (path === '/') await page.waitForSelector('.chart canvas')
  await page.screenshot({ path: `${folder}${name}.webp`, type: 'webp', quality: 80 })
  await close()
}
