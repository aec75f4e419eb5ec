import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pagePaths } from '../../src/explorer/paths.ts'
import { present } from '../../src/lib/assert.ts'
import {
  accessibilityProblems,
  type Look,
  openBrowser,
  openTab,
  savedBy,
  type Tab,
} from '../support/browser.ts'
import { type ChainWorld, startChainWorld } from '../support/chain-world.ts'
import { graphql } from '../support/client.ts'
import { setRecords, variablesIn } from '../support/explorer-pages.ts'
import { until } from '../support/until.ts'

/** Every page in a browser, on a ledger with every kind of output: it has no error and sends one query. */

let started: ChainWorld
let browser: Browser
let paths: ReadonlyMap<string, string>

beforeAll(async () => {
  ;[started, browser] = await Promise.all([
    startChainWorld({ players: 40, rounds: 8 }),
    openBrowser(),
  ])
  const variables = await variablesIn(started)
  const { milestone, block, transaction, output, address } = variables
  await setRecords(started.world.gateway, variables)
  paths = new Map([
    ['home', '/'],
    ['search', `/search?q=${output.id}`],
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
    ['decode', `/decode#${variables.decode.input.bytes}`],
    ['verify', `/verify#${variables.verify.input.bytes}`],
    ['faucet', '/faucet'],
    ['network', '/network'],
    ['health', '/health-page'],
    ...lists.map(([name]) => [name, `/${name}`] as const),
  ])
}, 120_000)
afterAll(async () => {
  await browser.close()
  await started.world.close()
})

/** Pages with a single list. */
const lists = [
  ['chains', 'ChainsPage', 'Chains'],
  ['milestones', 'MilestonesPage', 'Milestones'],
  ['blocks', 'BlocksPage', 'Blocks'],
  ['transactions', 'TransactionsPage', 'Transactions'],
  ['accounts', 'AccountsPage', 'Accounts'],
  ['tokens', 'TokensPage', 'Tokens'],
  ['nfts', 'NftsPage', 'NFTs'],
  ['rich', 'RichPage', 'Rich list'],
] as const

/** The operation of each page and the text of its heading. */
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
  ['decode', 'DecodePage', 'Decode'],
  ['verify', 'VerifyPage', 'Verify'],
  ['faucet', 'FaucetPage', 'Faucet'],
  ['network', 'NetworkPage', 'Network'],
  ['health', 'HealthPage', 'Gateway'],
  ...lists,
] as const

const looks: readonly Look[] = [
  { width: 1280, theme: 'light' },
  { width: 360, theme: 'dark' },
]

/** Other widths of a window, in which a page must fit in any theme: from a small phone to a tablet, and those at which the layout changes. */
const otherWidths = [320, 640, 768, 839, 840, 1024, 1199, 1200]

/** Limit on all scripts and styles of the home page, compressed. */
const maxCodeBytes = 70 * 1024

/** The files of all pages, each next to its compressed forms. */
const bundle = new URL('../../dist/explorer/explorer/', import.meta.url)

/** The style sheets, of which a page loads those that it needs. */
const styles = new URL('../../src/explorer/styles/', import.meta.url)

/** Limit on layout shift: the moved share of the window times the moved distance as a share of it. Browsers call 0.1 good. */
const maxShift = 0.02

/** The width by which the page exceeds the window. */
const excessWidth = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe.each(pages)('the page %s', (name, operation, heading) => {
  test('sends one query, opens one subscription and has no errors', async () => {
    const { url } = started.world.gateway
    for (const look of looks) {
      const tab = await openTab(browser, url, look)
      await tab.page.goto(url + present(paths.get(name), 'a path of the page'))
      const title = await tab.page.waitForSelector('h1')
      expect(await title?.evaluate((element) => element.textContent)).toContain(heading)
      await tab.page.waitForSelector('.link-live')
      expect(await accessibilityProblems(tab)).toEqual([])
      expect(tab.operations).toEqual([`query ${operation}`, 'subscription NewMilestones'])
      expect(tab.problems).toEqual([])
      expect(await tab.layoutShift()).toBeLessThan(maxShift)
      expect(await tab.page.evaluate(excessWidth)).toBeLessThanOrEqual(0)
      for (const width of look.theme === 'light' ? otherWidths : []) {
        await tab.page.setViewport({ width, height: 900 })
        // A chart is drawn again for the new width.
        const fits = async () => Number(await tab.page.evaluate(excessWidth)) <= 0
        await until(fits, { what: `the page fits into ${width} pixels` })
      }
      expect(await unstyledClasses(tab)).toEqual([])
      await tab.close()
    }
  }, 120_000)
})

/** The classes of elements of the page that a style sheet of the explorer names, and no style sheet that the page has loaded. */
async function unstyledClasses({ page }: Tab): Promise<readonly string[]> {
  const used = await page.$$eval('[class]', (elements) =>
    elements.flatMap((element) => [...element.classList]),
  )
  const loaded = await page.evaluate(
    "[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map(({ cssText }) => cssText).join('')",
  )
  const loadedClasses = classesIn(String(loaded))
  return [...classesIn(styleSheets)]
    .filter((name) => used.includes(name) && !loadedClasses.has(name))
    .toSorted()
}

/** The text of all style sheets of the explorer, without comments. */
const styleSheets = readdirSync(styles)
  .map((name) => readFileSync(new URL(name, styles), 'utf8').replaceAll(/\/\*.*?\*\//gs, ''))
  .join('')

function classesIn(css: string): Set<string> {
  return new Set([...css.matchAll(/\.([a-z][a-z0-9-]*)/g)].map(([, name]) => name ?? ''))
}

test('every page is tested', () => {
  expect(pages.map(([name]) => name).toSorted()).toEqual(Object.keys(pagePaths).toSorted())
})

test('the home page loads less code than its limit', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, { width: 1280 })
  await tab.page.goto(url, { waitUntil: 'load' })
  // The chart is loaded last.
  await tab.page.waitForSelector('.chart canvas')
  expect(tab.codeBytes()).toBeGreaterThan(20_000)
  expect(tab.codeBytes()).toBeLessThan(maxCodeBytes)
  await tab.close()
})

test('all pages together have less code than 150 KiB', () => {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.br'))
  const sizes = files.map((name) => statSync(new URL(name, bundle)).size)
  const sum = sizes.reduce((all, size) => all + size, 0)
  expect(sum).toBeGreaterThan(maxCodeBytes / 2)
  expect(sum).toBeLessThan(150 * 1024)
})

test('pages and their links work behind a path prefix', async () => {
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

/** Serves a gateway below a path and nothing else. */
async function startPrefixProxy(target: string, prefix: string): Promise<Server> {
  const proxy = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) {
      answer.writeHead(404).end()
      return
    }
    const options = method === undefined ? { headers } : { method, headers }
    const forwarded = request(target + url.slice(prefix.length), options, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      // A subscription has only its head until the first event.
      answer.flushHeaders()
      response.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

test('a page is printed with dark text, whatever the theme', async () => {
  const { url } = started.world.gateway
  for (const theme of ['light', 'dark'] as const) {
    const tab = await openTab(browser, url, { width: 1280, theme })
    await tab.page.goto(url)
    await tab.page.waitForSelector('h1')
    const color = () => tab.page.$eval('h1', (one) => getComputedStyle(one).color)
    await tab.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(await color()).toBe('rgb(233, 233, 231)')
    await tab.page.emulateMediaType('print')
    expect(await color()).toBe('rgb(27, 28, 30)')
    await tab.close()
  }
})

test('each list of a page has further pages', async () => {
  const { url } = started.world.gateway
  const { data } = await graphql(url, `{ milestones(first: 100) { nodes { index updateCount } } }`)
  const byUpdates = (one: { updateCount: number }) => one.updateCount > 20
  const milestone = present(data.milestones.nodes.find(byUpdates), 'a milestone with two pages')
  const tab = await openTab(browser, url, { width: 1280 })
  await tab.page.goto(`${url}/milestone/${milestone.index}`)
  const list = 'section[aria-label="Updates"]'
  const rows = () =>
    tab.page.$$eval(`${list} [data-row]`, (all) => all.map((one) => one.textContent))
  await tab.page.waitForSelector('.link-live')
  const first = await rows()
  expect(first).toHaveLength(20)
  await tab.page.click(`${list} .paging a`)
  await tab.page.waitForFunction(`location.search.startsWith('?updatesAfter=')`)
  await until(async () => (await rows()).length === Math.min(20, milestone.updateCount - 20), {
    what: 'the second page',
  })
  expect(await rows()).not.toContain(first[0])
  const scroll = () => tab.page.evaluate('scrollY')
  // The reader is still where the list is, also after back and forward.
  const left = await scroll()
  expect(left).toBeGreaterThan(0)
  await tab.page.goBack()
  await until(async () => (await rows()).length === 20, { what: 'the first page' })
  expect(await rows()).toEqual(first)
  await tab.page.goForward()
  await until(async () => !(await rows()).includes(first[0] ?? ''), { what: 'the second page' })
  await until(async () => (await scroll()) === left, { what: 'the former position' })
  await tab.page.evaluate('scrollBy(0, -50)')
  const moved = await scroll()
  await tab.page.reload()
  await until(async () => (await scroll()) === moved, { what: 'the position before the reload' })
  expect(tab.problems).toEqual([])
  await tab.close()
})

test('the query of a page opens in GraphiQL with its variables and runs', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, looks[0] as Look)
  await tab.page.goto(url + present(paths.get('decode'), 'a path of the page'))
  const link = await tab.page.waitForSelector('.as-query')
  await link?.click()
  const run = await tab.page.waitForSelector('.graphiql-execute-button', { timeout: 60_000 })
  await tab.page.waitForFunction(
    'document.querySelectorAll(".graphiql-tab").length === 6 && document.querySelector(".graphiql-tab-active").textContent.startsWith("DecodePage")',
  )
  await run?.click()
  await tab.page.waitForFunction(
    'document.querySelector(".result-window")?.textContent.includes("BlockInspection")',
  )
  await tab.close()
}, 120_000)

test('a field of a block is marked in the tree and the bytes by pointer and keyboard', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, looks[0] as Look)
  await tab.page.goto(url + present(paths.get('block'), 'a path of the page'))
  const marked = () =>
    tab.page.$$eval('.marked', (all) =>
      all.map((one) => (one.querySelector('.byte-name') ?? one).textContent),
    )
  const networkId = await tab.page.waitForSelector('.bytes [data-field="2"]')
  const text = await networkId?.evaluate((one) => one.textContent)
  await networkId?.hover()
  expect(await marked()).toEqual(['networkId', text])
  await tab.page.focus('[role="treeitem"][tabindex="0"]')
  await tab.page.keyboard.press('ArrowDown')
  expect(await marked()).toEqual(['protocolVersion', '03'])
  // A closed field is marked instead of its children.
  await tab.page.keyboard.press('ArrowLeft')
  await tab.page.keyboard.press('ArrowLeft')
  await tab.page.hover('.bytes [data-field="1"]')
  expect(await marked()).toEqual(['▸ header', '03'])
  expect(tab.problems).toEqual([])
  await tab.close()
})

test('the browser verifies the proof of an output and rejects one with a changed byte', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, looks[0] as Look)
  await tab.page.goto(url + present(paths.get('output'), 'a path of the page'))
  const verdict = (expected: string) =>
    tab.page.waitForFunction(
      `document.querySelector('.proof-ask + [role=status]')?.textContent.includes('${expected}')`,
    )
  await tab.page.waitForSelector('.link-live')
  await tab.page.click('.proof-ask button')
  await verdict('✓ proven')
  await verdict('The output is spent.')
  const { data } = await graphql(
    url,
    '{ outputs(first: 1, filter: { isSpent: false }) { nodes { outputId } } }',
  )
  await tab.page.goto(`${url}/output/${data.outputs.nodes[0].outputId}`)
  await tab.page.waitForSelector('.link-live')
  await tab.page.click('.proof-ask button')
  await verdict('✓ proven The commitment contains this output')
  expect(await accessibilityProblems(tab)).toEqual([])
  // From now on responses have another last byte of the output.
  await tab.page.evaluate(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const answer = await (await send(...request)).text()
      const changed = answer.replace(/("bytes":"0x\\w*)(\\w)"/, (_, start, digit) =>
        start + (digit === '0' ? '1' : '0') + '"')
      return new Response(changed, { headers: { 'content-type': 'application/json' } })
    }
  }`)
  await tab.page.click('.proof-ask button')
  await verdict('✕ not proven')
  expect(tab.operations.filter((one) => one === 'query OutputProof')).toHaveLength(3)
  expect(tab.problems).toEqual([])
  await tab.close()
})

test('the history of an address is read by keyboard, and its QR code is loaded on demand', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, looks[1] as Look)
  const loaded: string[] = []
  tab.page.on('request', (request) => loaded.push(request.url()))
  await tab.page.goto(url + present(paths.get('address'), 'a path of the page'))
  const chartText = () => tab.page.$eval('.balance-chart-said', (one) => one.textContent)
  await tab.page.waitForSelector('.balance-chart')
  const newest = await chartText()
  // It covers the whole history, not only the updates in the list below.
  const history = `query ($address: String!) { address(address: $address) { updateCount
    balanceHistory(points: 2) { points { milestoneEndedAt } } } }`
  const address = present(paths.get('address'), 'a path of the page').slice('/address/'.length)
  const { data } = await graphql(url, history, { address })
  const utc = (text: string) => text.slice(0, 19).replace('T', ' ')
  await tab.page.focus('.balance-chart input')
  await tab.page.keyboard.press('Home')
  expect(await chartText()).not.toBe(newest)
  expect(await chartText()).toContain(utc(data.address.balanceHistory.points[0].milestoneEndedAt))
  await tab.page.keyboard.press('End')
  expect(await chartText()).toBe(newest)
  const isCode = (address: string) => address.includes('/lean-qr-')
  expect(loaded.filter(isCode)).toEqual([])
  await tab.page.evaluate(`document.querySelector('.balance + .button').click()`)
  await tab.page.waitForSelector('svg.qr-code[role="img"]')
  expect(loaded.filter(isCode)).toHaveLength(1)
  expect(await accessibilityProblems(tab)).toEqual([])
  expect(await tab.page.evaluate(excessWidth)).toBeLessThanOrEqual(0)
  expect(tab.problems).toEqual([])
  await tab.close()
})

test('full ids and bytes are copied by a button and by a key', async () => {
  const { url } = started.world.gateway
  const tab = await openTab(browser, url, { width: 1280 })
  const { page } = tab
  // A browser without a window cannot ask for permission.
  const may = (name: string) => ({ permission: { name }, state: 'granted' }) as const
  await page.browserContext().setPermission(url, may('clipboard-read'), may('clipboard-write'))
  await page.evaluateOnNewDocument(`{
    const write = navigator.clipboard.writeText.bind(navigator.clipboard)
    window.copied = []
    navigator.clipboard.writeText = async (text) => {
      await write(text)
      window.copied.push(text)
    }
  }`)
  const path = present(paths.get('block'), 'a path of the page')
  await page.goto(url + path)
  await page.waitForSelector('.bytes')
  const copied = () => page.evaluate('window.copied.at(-1)')
  await page.click('.id .copy')
  await page.waitForSelector('.copy.copied[aria-label="Copied"]')
  expect(await copied()).toBe(path.split('/').at(-1))
  await page.waitForSelector('.copy.copied', { hidden: true })
  await page.$eval('.copy[data-copy]', (button) => (button as HTMLElement).click())
  await page.waitForSelector('.copied')
  expect(await copied()).toMatch(/^0x(?:[0-9a-f]{2}){100,}$/)
  await page.focus('.id a')
  const focused = await page.$eval('.id:has(a)', (id) => (id as HTMLElement).dataset.copy)
  await page.keyboard.press('c')
  await until(async () => (await copied()) === focused)
  expect(tab.problems).toEqual([])
  await tab.close()
})

test('a page without HTTPS copies without losing the focus', async () => {
  const tab = await openTab(browser, started.world.gateway.url, { width: 1280 })
  const { page } = tab
  // Such a page has no clipboard API.
  await page.evaluateOnNewDocument(`{
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    addEventListener('copy', ({ target }) => { window.copied = target.value })
  }`)
  const path = present(paths.get('block'), 'a path of the page')
  await page.goto(started.world.gateway.url + path)
  await page.waitForSelector('.link-live')
  await page.focus('.id .copy')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.copied:focus')
  expect(await page.evaluate('window.copied')).toBe(path.split('/').at(-1))
  await tab.close()
})

test('values at the end of their range, and results of a search', async () => {
  const { page, close } = await openTab(browser, started.world.gateway.url, looks[0] as Look)
  const textAt = async (path: string, selector: string) => {
    await page.goto(started.world.gateway.url + path)
    return (await page.waitForSelector(selector))?.evaluate(({ textContent }) => textContent)
  }
  expect(await textAt('/rich', '[data-row] data[value^="0.9999"]')).toBe('> 99.99 %')
  expect(await textAt(paths.get('account') ?? '', 'section:has(.keys)')).toContain('valid forever')
  expect(await textAt(`/search?q=${paths.get('nft')?.slice(5)}`, 'section h2')).toBe('NFTs')
  await close()
})

test('a list is saved as a file with full ids and exact numbers', async () => {
  const { url } = started.world.gateway
  const { data } = await graphql(
    url,
    `{ network { baseToken { subunit } } status { baseTokenSupply }
      addresses(first: 50) { nodes { bech32 balance { total outputCount } } } }`,
  )
  const tab = await openTab(browser, url, looks[1] as Look)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-csv-'))
  try {
    await tab.page.goto(`${url}/rich`)
    const button = await tab.page.waitForSelector('[aria-label="CSV of The richest addresses"]')
    const name = await savedBy(tab.page, folder, () => button?.click())
    expect(name).toMatch(/^rich-the-richest-addresses-\d{8}T\d{6}Z\.csv$/)
    const [head, ...lines] = readFileSync(join(folder, name), 'utf8').split('\r\n')
    const { subunit } = data.network.baseToken
    expect(head).toBe(`Address,Kind,Unspent outputs,Balance (${subunit}),Share of supply`)
    expect(lines.pop()).toBe('')
    const supply = Number(data.status.baseTokenSupply)
    const expected = data.addresses.nodes.map(
      ({ bech32, balance: { outputCount, total } }: Rich) => [
        ...[bech32, outputCount, total],
        (Number(total) / supply).toFixed(5),
      ],
    )
    const shown = lines.map((line) => line.split(','))
    expect(
      shown.map(([address, _kind, outputs, total, share]) => [
        ...[address, outputs, total],
        Number(share).toFixed(5),
      ]),
    ).toEqual(expected)
    expect(tab.problems).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
    await tab.close()
  }
})

test.each([
  [
    'home',
    'CSV of Activity',
    `{ activity(resolution: MINUTE) { start transactionsAccepted transactionsFailed baseTokensMoved } }`,
    (data: ListData): string[] => {
      const busy = data.activity.filter(({ transactionsAccepted: all }) => all !== '0')
      return busy.toReversed().map((point) => Object.values(point).join(','))
    },
  ],
  [
    'account',
    'CSV of History',
    `query ($id: AccountId!) { account(id: $id) { history(first: 10) { nodes { transactionId } } } }`,
    (data: ListData): string[] =>
      data.account.history.nodes.map(({ transactionId }) => transactionId),
  ],
  [
    'transaction',
    'CSV of Inputs and outputs',
    `query ($id: TransactionId!) { transaction(id: $id) {
      inputs { outputId owner { bech32 } amount } outputs { outputId owner { bech32 } amount } } }`,
    ({ transaction: { inputs, outputs } }: ListData): string[] => {
      const lineOf = ({ outputId, owner, amount }: Moved) => [outputId, owner.bech32, amount]
      return [...inputs, ...outputs].flatMap(lineOf)
    },
  ],
] as const)('the list of the page %s is saved by %s', async (name, button, query, linesOf) => {
  const { url } = started.world.gateway
  const path = present(paths.get(name), 'a path of the page')
  const { data } = await graphql(url, query, { id: path.split('/').at(-1) })
  const tab = await openTab(browser, url, looks[0] as Look)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-csv-'))
  try {
    await tab.page.goto(url + path)
    await tab.page.waitForSelector(`[aria-label="${button}"]`)
    const file = await savedBy(tab.page, folder, () =>
      tab.page.evaluate(`document.querySelector('[aria-label="${button}"]').click()`),
    )
    const text = readFileSync(join(folder, file), 'utf8')
    const lines = linesOf(data)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(text).toContain(line)
    expect(text).not.toContain('…')
    expect(tab.problems).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
    await tab.close()
  }
})

interface ListData {
  readonly transaction: { readonly inputs: readonly Moved[]; readonly outputs: readonly Moved[] }
  readonly activity: readonly { readonly transactionsAccepted: string }[]
  readonly account: {
    readonly history: { readonly nodes: readonly { readonly transactionId: string }[] }
  }
}

interface Moved {
  readonly outputId: string
  readonly owner: { readonly bech32: string }
  readonly amount: string
}

interface Rich {
  readonly bech32: string
  readonly balance: { readonly outputCount: string; readonly total: string }
}

describe('on the pages of chains', () => {
  test('an image is shown after a click without a request to another host', async () => {
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

  test('a list is filtered and continues on another page', async () => {
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
