import type { Browser, HTTPRequest } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { accessibilityProblems, openBrowser, openTab, type Tab } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  issuer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** What visitors see on paper, in a zoomed page, with forced colours and with long amounts. */

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
})
afterAll(async () => {
  await browser.close()
  await gateway.close()
})

test('a print has the whole content of the page and nothing to click', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280, theme: 'dark' })
  const { page } = tab
  await page.goto(gateway.url + path)
  await page.waitForSelector('.link-live')
  await page.waitForSelector('.bytes')
  const shown = (selector: string) =>
    page.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).length)
  const aids = '.header, .strip, .status, .as-csv, .copy, button'
  expect(await shown(aids)).toBeGreaterThan(10)
  await page.emulateMediaType('print')
  expect(await shown(aids)).toBe(0)
  const isCut = (one: Element) => one.scrollHeight > one.clientHeight
  expect(await page.$$eval('.bytes, .byte-fields', (all) => all.length)).toBe(2)
  expect(await page.$eval('.bytes', isCut)).toBe(false)
  expect(await page.$eval('.byte-fields', isCut)).toBe(false)
  const [at, printed] = await page.$eval('time', (one) => [
    one.dateTime,
    getComputedStyle(one, '::after').content,
  ])
  expect(printed).toBe(`"${at}"`)
  await tab.close()
})

test('a print has the bars and the key of a chart, also without other backgrounds', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  for (const [at, selector] of [
    ['/', '.swatch-failed'],
    ['/rich', '.share-bar span'],
  ] as const) {
    await tab.page.goto(gateway.url + at)
    const shape = await tab.page.waitForSelector(selector)
    await tab.page.emulateMediaType('print')
    expect(await shape?.evaluate((one) => getComputedStyle(one).printColorAdjust)).toBe('exact')
  }
  await tab.close()
})

test.each(['light', 'dark'] as const)(
  'the edges of fields are visible in the %s theme',
  async (theme) => {
    const tab = await openTab(browser, gateway.url, { width: 1280, theme })
    await tab.page.goto(`${gateway.url}/decode`)
    await tab.page.waitForSelector('#pasted')
    const contrasts = await tab.page.evaluate(() => {
      const luminance = (colour: string) => {
        const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((digits) => {
          const part = Number(digits) / 255
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      }
      const ground = luminance(getComputedStyle(document.documentElement).backgroundColor)
      return [...document.querySelectorAll('#search, #pasted')].map((field) => {
        const edge = luminance(getComputedStyle(field).borderColor)
        return (Math.max(edge, ground) + 0.05) / (Math.min(edge, ground) + 0.05)
      })
    })
    expect(contrasts).toHaveLength(2)
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3)
    await tab.close()
  },
)

test('a page without a connection can still be read', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(gateway.url + path)
  await tab.page.waitForSelector('.link-live')
  await tab.page.evaluate('document.querySelector("main").classList.add("page-offline")')
  await tab.page.waitForFunction(() => {
    const { opacity, filter } = getComputedStyle(document.querySelector('main') as Element)
    return opacity === '0.6' || filter === 'grayscale(1)'
  })
  expect(await accessibilityProblems(tab)).toEqual([])
  await tab.close()
})

test.each([
  ['a transaction', () => path],
  ['a tool', () => '/decode'],
])('everything to tap on the page of %s has 24 pixels or room around it', async (_name, at) => {
  const tab = await openTab(browser, gateway.url, { width: 360, height: 5_000 })
  await tab.page.goto(gateway.url + at())
  await tab.page.waitForSelector('.link-live')
  expect(await accessibilityProblems(tab, 'target-size')).toEqual([])
  await tab.close()
})

test('a chart is not wider than the paper', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(gateway.url)
  await tab.page.waitForSelector('.chart canvas')
  await tab.page.emulateMediaType('print')
  const widths = await tab.page.$$eval('div.chart', ([chart]) => {
    if (chart === undefined) return []
    chart.style.width = '600px'
    return [...chart.querySelectorAll('.u-wrap, canvas')].map((one) => one.clientWidth)
  })
  expect(widths).toEqual([600, 600])
  await tab.close()
})

test('a chart is printed as dark from a dark page as from a light one', async () => {
  const blank = await browser.newPage()
  /** The brightness of the darkest pixel of the chart on paper, from 0 to 255. */
  const printed = async (theme: 'light' | 'dark') => {
    const tab = await openTab(browser, gateway.url, { width: 1280 })
    await tab.page.evaluateOnNewDocument(`localStorage.setItem('theme', '${theme}')`)
    await tab.page.goto(gateway.url)
    const canvas = await tab.page.waitForSelector('.chart canvas')
    await tab.page.emulateMediaType('print')
    const picture = await present(canvas ?? undefined, 'a chart').screenshot({ encoding: 'base64' })
    await tab.close()
    return await blank.evaluate(async (png) => {
      const answer = await fetch(`data:image/png;base64,${png}`)
      const bitmap = await createImageBitmap(await answer.blob())
      const drawing = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
      drawing?.drawImage(bitmap, 0, 0)
      const bytes = drawing?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? []
      let darkest = 255
      for (let at = 0; at < bytes.length; at += 4) {
        const [red = 0, green = 0, blue = 0] = bytes.slice(at, at + 3)
        darkest = Math.min(darkest, (red + green + blue) / 3)
      }
      return darkest
    }, picture)
  }
  const light = await printed('light')
  expect(light).toBeLessThan(140)
  expect(Math.abs((await printed('dark')) - light)).toBeLessThan(25)
  await blank.close()
})

test('a page that is zoomed to 400 % leaves its window to the content', async () => {
  const tab = await openTab(browser, gateway.url, { width: 320, height: 225 })
  await tab.page.goto(gateway.url + path)
  await tab.page.waitForSelector('.link-live')
  await tab.page.evaluate('scrollTo(0, 400)')
  const shown = await tab.page.$$eval('.header, .status', (all) =>
    all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]),
  )
  expect(shown).toHaveLength(2)
  for (const [top = 0, bottom = 0] of shown) expect(bottom <= 0 || top >= 225).toBe(true)
  await tab.close()
})

test('the text size of the browser enlarges every page, which still fits', async () => {
  // With the larger text the first page is laid out as in a narrow window, and the second as in a wide one.
  for (const [at, width] of [
    ['/', 1280],
    [path, 1800],
  ] as const) {
    const tab = await openTab(browser, gateway.url, { width })
    const session = await tab.page.createCDPSession()
    const sizes = async () => {
      await tab.page.goto(gateway.url + at)
      await tab.page.waitForSelector('.link-live')
      return await tab.page.evaluate(() => {
        const all = document.querySelectorAll('h1, h2, .nav a, td, .id, .flow-line, .status')
        return [...all].map((one) => Number.parseFloat(getComputedStyle(one).fontSize))
      })
    }
    const usual = await sizes()
    expect(usual.length).toBeGreaterThan(10)
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
    expect(Math.min(...(await sizes()))).toBe(2 * Math.min(...usual))
    const excess = await tab.page.evaluate(() => {
      const all = [document.documentElement, ...document.querySelectorAll('.flow li, .header-row')]
      return all.map((one) => [
        one.scrollWidth - one.clientWidth,
        one.scrollHeight - one.clientHeight,
      ])
    })
    expect(excess.map(([width]) => width).filter((px) => px !== 0)).toEqual([])
    expect(excess.slice(1).filter(([, height]) => height !== 0)).toEqual([])
    await tab.close()
  }
})

test.each([
  ['/', () => '/'],
  ['/network', () => '/network'],
  ['/accounts', () => '/accounts'],
  ['an account', () => `/account/${issuer.accountId}`],
  ['a transaction', () => path],
  ['an address', () => `/address/${addressOf(user(5))}`],
])('text of twice the size fits into a phone on the page of %s', async (_name, at) => {
  const tab = await openTab(browser, gateway.url, { width: 360 })
  const session = await tab.page.createCDPSession()
  await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  await tab.page.goto(gateway.url + at())
  await tab.page.waitForSelector('.link-live')
  const { clientWidth, scrollWidth } = await tab.page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    return { clientWidth, scrollWidth }
  })
  expect(scrollWidth).toBe(clientWidth)
  await tab.close()
})

test.each(['j', 'k', 'Tab'] as const)(
  'a row that gets the focus by %s is not covered',
  async (key) => {
    const tab = await openTab(browser, gateway.url, { width: 1280, height: 500 })
    const { page } = tab
    await page.goto(`${gateway.url}/milestone/0`)
    await page.waitForSelector('.link-live')
    await page.waitForSelector('[data-row]')
    await page.$$eval('[data-row] a', (all, isUp) => all.at(isUp ? -1 : 0)?.focus(), key === 'k')
    for (let n = 0; n < 10; n++) {
      await page.keyboard.press(key)
      const isCovered = await page.evaluate(() => {
        const { top, bottom } = document.activeElement?.getBoundingClientRect() ?? new DOMRect()
        const edge = (selector: string) => document.querySelector(selector)?.getBoundingClientRect()
        return top < (edge('.header')?.bottom ?? 0) || bottom > (edge('.status')?.top ?? 0)
      })
      expect(isCovered).toBe(false)
    }
    await tab.close()
  },
)

test('forced colours leave the bars and the current section visible', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const session = await tab.page.createCDPSession()
  const features = [{ name: 'forced-colors', value: 'active' }]
  await session.send('Emulation.setEmulatedMedia', { features })
  await tab.page.goto(`${gateway.url}/rich`)
  await tab.page.waitForSelector('.link-live')
  const colours = await tab.page.evaluate(() => {
    const styleOf = (selector: string) =>
      getComputedStyle(document.querySelector(selector) ?? document.body)
    const ground = styleOf('html').backgroundColor
    return {
      bar: styleOf('.share-bar span').backgroundColor === ground,
      lamp: styleOf('.lamp').backgroundColor === ground,
      current: styleOf('.nav a[aria-current]').borderBottomColor === ground,
      other: styleOf('.nav a:not([aria-current])').borderBottomColor === ground,
    }
  })
  expect(colours).toEqual({ bar: false, lamp: false, current: false, other: true })
  await tab.close()
})

test.each([
  ['/chains', 'Chains', 'page'],
  ['/rich', 'Tools', 'true'],
  ['the page of a transaction', 'Transactions', 'true'],
])('%s marks its section of the header', async (at, label, current) => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(gateway.url + (at.startsWith('/') ? at : path))
  const link = await tab.page.waitForSelector('.nav a[aria-current]')
  expect(await link?.evaluate((one) => [one.textContent, one.ariaCurrent])).toEqual([
    label,
    current,
  ])
  await tab.close()
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
  const heights = await tab.page.$$eval('.flow-line .amount', (all) =>
    all.map((one) => one.clientHeight),
  )
  expect(Math.max(...heights)).toBeLessThan(30)
  await tab.close()
})

test.each([
  ['address', () => `/address/${addressOf(user(5))}`],
  ['account', () => `/account/${issuer.accountId}`],
])('a number of 19 digits on the page of an %s breaks between groups', async (_name, at) => {
  const tab = await openTab(browser, gateway.url, { width: 320 })
  await enlargeAmounts(tab)
  await tab.page.goto(gateway.url + at())
  await tab.page.waitForSelector('.link-live')
  const linesOf = await tab.page.$$eval('.balance-total .amount', ([number]) => {
    const texts = document.createTreeWalker(number as Element, NodeFilter.SHOW_TEXT)
    const lines: (readonly [string, number])[] = []
    while (texts.nextNode()) {
      const range = document.createRange()
      range.selectNodeContents(texts.currentNode)
      const tops = [...range.getClientRects()]
        .filter(({ width }) => width > 0)
        .map(({ top }) => top)
      lines.push([range.toString(), new Set(tops).size])
    }
    return lines
  })
  expect(linesOf.map(([text]) => text).join('')).toContain('9\u202f223\u202f372\u202f036\u202f854')
  expect(linesOf.filter(([, lines]) => lines > 1)).toEqual([])
  await tab.close()
})

test('a phone shows short cells side by side, and the chart of an address over the width of the page', async () => {
  const { page, close } = await openTab(browser, gateway.url, { width: 390 })
  await page.goto(`${gateway.url}/milestones`)
  const row = await page.waitForSelector('[data-row]')
  const lines = await row?.$$eval('td', (cells) => new Set(cells.map((one) => one.offsetTop)).size)
  expect(lines).toBe(3)
  await page.goto(`${gateway.url}/address/${addressOf(user(5))}`)
  await page.waitForSelector('.balance-chart svg')
  const widthOf = (selector: string) => page.$eval(selector, (one) => one.clientWidth)
  expect(await widthOf('.balance-chart svg')).toBe(await widthOf('.balance-chart'))
  await close()
})

test('the transactions of a milestone have their amounts', async () => {
  const { page, close } = await openTab(browser, gateway.url, { width: 1280 })
  await page.goto(gateway.url + path)
  const milestone = await page.waitForSelector('.facts a[href^="/milestone/"]')
  await milestone?.click()
  const cells = 'section:has(a[href^="/transaction/"]) td[data-head="Amount"] data'
  await page.waitForSelector(cells)
  const amounts = await page.$$eval(cells, (all) => all.map(({ value }) => value))
  expect(amounts).toContain('400000000')
  await close()
})

test('a search without results says what can be found', async () => {
  const { page, close } = await openTab(browser, gateway.url, { width: 1280 })
  await page.goto(`${gateway.url}/search?q=0xab`)
  const empty = await page.waitForSelector('.empty')
  const said = await empty?.evaluate(({ textContent }) => textContent)
  expect(said).toMatch(/^[A-Z].*\.The search finds ids/)
  await close()
})

test('the current section is visible in a narrow window', async () => {
  const tab = await openTab(browser, gateway.url, { width: 360 })
  const { page } = tab
  const ends = () =>
    page.$eval('.nav [aria-current]', (one) => {
      const { left, right } = one.getBoundingClientRect()
      return [left >= 0, right <= innerWidth]
    })
  await page.goto(`${gateway.url}/chains`)
  await page.waitForSelector('.link-live')
  expect(await ends()).toEqual([true, true])
  await page.click('.brand')
  await page.waitForSelector('.figures')
  expect(await ends()).toEqual([true, true])
  await tab.close()
})

test('the outline of a focused section is not cut off', async () => {
  const { page, close } = await openTab(browser, gateway.url, { width: 1280 })
  await page.goto(gateway.url)
  await page.waitForSelector('.link-live')
  await page.focus('#search')
  for (let n = 0; n < 3; n++) await page.keyboard.press('Tab')
  const isWhole = await page.$eval('.nav a:focus-visible', (link) => {
    const { outlineWidth, outlineOffset } = getComputedStyle(link)
    const around = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset)
    const own = link.getBoundingClientRect()
    const nav = link.closest('.nav')?.getBoundingClientRect() ?? own
    return [own.top - around >= nav.top, own.bottom + around <= nav.bottom]
  })
  expect(isWhole).toEqual([true, true])
  await close()
})

test('the chart follows the theme of the system', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280, theme: 'light' })
  const { page } = tab
  await page.goto(gateway.url)
  await page.waitForSelector('.chart canvas')
  await page.evaluate('window.former = document.querySelector(".chart canvas")')
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
  await page.waitForFunction(
    '!window.former.isConnected && document.querySelector(".chart canvas")',
  )
  await tab.close()
})

test('times are right at once when a hidden tab is shown again', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = tab
  await page.goto(`${gateway.url}/milestones`)
  await page.waitForSelector('.link-live')
  await page.evaluate(`{
    window.isHidden = true
    Object.defineProperty(document, 'hidden', { get: () => window.isHidden })
  }`)
  // Meanwhile milestones arrive that are later than the time at which the tab was hidden.
  await page.waitForFunction(
    `document.querySelector('.status').textContent.includes('0.0 s behind')`,
  )
  const shown = await page.evaluate(`(async () => {
    window.isHidden = false
    document.dispatchEvent(new Event('visibilitychange'))
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
    return document.querySelector('.status').textContent
  })()`)
  expect(shown).toMatch(/[1-9]\.\d s behind/)
  await tab.close()
})

test('the bars of a chart without failed transactions have no pattern at their edges', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = tab
  await page.goto(gateway.url)
  await page.waitForSelector('.chart canvas')
  await page.waitForSelector('.numbers time')
  // Only bars between two pixels have half-transparent edges, and their places depend on the width.
  const edges: number[][] = []
  for (const width of [1280, 1201, 1103, 1007]) {
    await page.setViewport({ width, height: 900 })
    await page.waitForFunction(
      'document.querySelector(".chart canvas").clientWidth === document.querySelector(".chart").clientWidth',
    )
    const found = await page.$eval('.chart canvas', (one) => {
      const canvas = one as HTMLCanvasElement
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      }
      const pixels = Array.from(data, (_, n) => [...data.slice(n, n + 4)])
      return pixels.filter(([red = 0, , blue = 0, alpha = 0], n) => {
        return n % 4 === 0 && alpha > 100 && alpha < 255 && blue - red > 50
      })
    })
    edges.push(...found)
  }
  expect(edges.length).toBeGreaterThan(10)
  // The blue of a bar and the grey of the grid have no more red than green.
  expect(edges.filter(([red = 0, green = 0]) => red > green)).toEqual([])
  await tab.close()
})

test('the sides of a lane are headings below that of the lane', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(gateway.url + path)
  await tab.page.waitForSelector('.lane')
  const headings = await tab.page.$$eval('.flow h2, .lane h2, .flow h3', (all) =>
    all.map((one) => `${one.tagName} ${one.textContent?.trim()}`),
  )
  expect(headings).toEqual(['H2 1 input', 'H2 2 outputs', 'H2 Mana', 'H3 from', 'H3 to'])
  await tab.close()
})

/** The newest milestones come first, so that none is after it. */
const cursorOfMilestone0 = Buffer.from('milestone.0').toString('base64url')

test.each([
  ['/nfts', 'There are no NFTs yet.'],
  [`/nfts?issuer=${addressOf(user(5))}`, 'There are no matching NFTs.'],
  ['/epoch/9', 'Not begun yet'],
  ['/epoch/4294967295', 'No epoch with this id'],
  [`/milestones?after=${cursorOfMilestone0}`, 'There are no further entries.'],
  ['/milestone/0x0', 'This is not a valid id.'],
  ['/milestone/%20', 'This is not a valid id.'],
])('the page %s of a young ledger says %s', async (at, sentence) => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(gateway.url + at)
  await tab.page.waitForSelector('.link-live')
  expect(await tab.page.$eval('main', (main) => main.textContent)).toContain(sentence)
  await tab.close()
})

test('a mistyped path shows the page that says so', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = tab
  const response = await page.goto(`${gateway.url}/transactoin/0x1/2`)
  expect(response?.status()).toBe(404)
  await page.waitForSelector('.link-live')
  expect(await page.$eval('h1', (one) => one.textContent)).toBe('Page not found')
  expect(await page.title()).toBe('Page not found · Ledger Gateway')
  await page.click('main .button')
  await page.waitForSelector('.figures')
  expect(await page.evaluate('location.pathname')).toBe('/')
  await tab.close()
})

test('the tab of a search without a text has a title', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  await tab.page.goto(`${gateway.url}/search?q=`)
  await tab.page.waitForSelector('.link-live')
  expect(await tab.page.title()).toBe('Search the ledger · Ledger Gateway')
  await tab.close()
})

test('the first page appears although its code could not be loaded at first', async () => {
  const tab = await openTab(browser, gateway.url, { width: 1280 })
  const { page } = tab
  const isOfPage = (request: HTTPRequest) => /\/tokens-[^/]*\.js$/.test(request.url())
  let failures = 0
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (isOfPage(request) && failures++ === 0) void request.abort()
    else void request.continue()
  })
  await page.goto(`${gateway.url}/tokens`)
  await page.waitForFunction(`document.querySelector('h1')?.textContent === 'Tokens'`)
  expect(failures).toBe(2)
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
      const long = text.replaceAll(/"(amount|storedMana|total|credits)":"\\d+"/g, '"$1":"9223372036854775807"')
      return new Response(long, { headers: response.headers })
    }
  }`)
}
