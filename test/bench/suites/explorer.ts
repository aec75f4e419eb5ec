import { readdirSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { lengthenHistories, openBrowser, openTab, type Tab } from '../../support/browser.ts'
import { makeFolder, startProgram } from '../../support/program.ts'
import { acceptedId, post } from '../../support/submit.ts'
import {
  addressOf,
  blockOf,
  isFresh,
  offerOf,
  taggedData,
  untilHealth,
  user,
} from '../../support/wallet.ts'
import { median, printTable } from '../measure.ts'

/** Measures the size of the explorer, the load time of its home page, its scrolling, and the growth of its memory. */

const help = `npm run bench -- explorer [--minutes N] [--long]

Opens the built explorer of the built gateway in a real browser on loopback. Prints the sizes of its files, the load times of the
home page after a cold start of the browser (medians of five), the longest task while a list of 10,000 updates scrolls and jumps,
and the growth of the heap of the home page after the first minute, while 1,000 blocks per minute arrive.

--minutes N  the minutes that the home page stays open after the first one, 3 by default; 0 omits this measurement
--long       the same as --minutes 60`

const starts = 5
const listedUpdates = 10_000
const scrollMs = 10_000
const jumpMs = 3_000
const blocksPerMinute = 1_000
const look = { width: 1280 } as const

/** The folder with the files of all pages and their compressed forms. */
const bundle = new URL('../../../dist/explorer/explorer/', import.meta.url)

/** Prints the table. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      minutes: { type: 'string' },
    },
  })
  if (values.help) return console.log(help)
  const minutes = Number(values.minutes ?? (values.long ? 60 : 3))
  const folder = makeFolder()
  const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  try {
    await untilHealth(gateway.url)
    const cold: ColdStart[] = []
    for (let n = 0; n < starts; n++) cold.push(await coldStart(gateway.url))
    const { longestMs, processorMs, drawnMs } = await scrollList(gateway.url)
    const grown = minutes > 0 ? await heapGrowth(gateway.url, minutes) : undefined
    const column = (name: keyof ColdStart) => median(cold.map((one) => one[name]))
    const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
    const ms = (time: number) => `${time.toFixed(0)} ms`
    printTable([
      ['explorer', 'target', 'measured'],
      [
        'scripts and styles of the home page, compressed',
        'at most 70 KiB',
        kib(column('codeBytes')),
      ],
      ['scripts and styles of all pages, compressed', 'at most 150 KiB', kib(sizeOfAll())],
      ['first content after a cold start', 'at most 300 ms', ms(column('paintedMs'))],
      ['interactive', 'at most 500 ms', ms(column('shownMs'))],
      ['longest task while 10,000 updates scroll', 'at most 50 ms', ms(longestMs)],
      ['maximum processor time of such a task', '', ms(processorMs)],
      ['longest task of the first rendering', '', ms(drawnMs)],
      ...(grown === undefined
        ? []
        : [
            [
              `heap growth in ${minutes} min, ${grown.blocks} blocks`,
              'below 5 MiB',
              kib(grown.bytes),
            ],
          ]),
    ])
  } finally {
    await gateway.end('SIGTERM')
    folder.remove()
  }
}

function sizeOfAll(): number {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.br'))
  return files.reduce((sum, name) => sum + statSync(new URL(name, bundle)).size, 0)
}

interface ColdStart {
  readonly codeBytes: number
  /** The time from the start of the navigation to the first text or image. */
  readonly paintedMs: number
  /** The time to the figures of the home page, which need a response. Links and keys work from then on. */
  readonly shownMs: number
}

/** Loads the home page in a new browser with an empty cache. */
async function coldStart(url: string): Promise<ColdStart> {
  const browser = await openBrowser()
  try {
    const tab = await openTab(browser, url, look)
    await tab.page.evaluateOnNewDocument(`new MutationObserver((_, observer) => {
      if (document.querySelector('.figures') === null) return
      window.shownMs = performance.now()
      observer.disconnect()
    }).observe(document, { childList: true, subtree: true })`)
    await tab.page.goto(`${url}/`)
    await tab.page.waitForSelector('.chart canvas')
    const paintedMs = await numberIn(
      tab,
      `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
    )
    return { codeBytes: tab.codeBytes(), paintedMs, shownMs: await numberIn(tab, 'window.shownMs') }
  } finally {
    await browser.close()
  }
}

interface Scrolled {
  /** The longest task of the first rendering of a long history. */
  readonly drawnMs: number
  /** The longest task while the history scrolls down, and then jumps to random places. */
  readonly longestMs: number
  /** The maximum processor time of a task during the scrolling: its duration on an idle machine. */
  readonly processorMs: number
}

async function scrollList(url: string): Promise<Scrolled> {
  const browser = await openBrowser()
  try {
    const tab = await openTab(browser, url, look)
    await tab.page.evaluateOnNewDocument(`{
      window.tasks = []
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.tasks.push(duration)
      }).observe({ type: 'longtask', buffered: true })
    }`)
    await lengthenHistories(tab.page, listedUpdates)
    await tab.page.goto(`${url}/address/${addressOf(user(2))}`)
    await tab.page.waitForSelector('section[aria-label="History"] tbody .gap')
    await delay(1_000)
    const drawnMs = await numberIn(tab, 'Math.max(0, ...window.tasks.splice(0))')
    await tab.page.tracing.start({
      categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
    })
    await tab.page.evaluate(`new Promise((resolve) => {
      const begun = performance.now()
      const step = () => {
        const passed = performance.now() - begun
        if (passed < ${scrollMs}) scrollBy(0, 400)
        else scrollTo(0, Math.random() * document.documentElement.scrollHeight)
        if (passed > ${scrollMs + jumpMs}) setTimeout(resolve, 500)
        else requestAnimationFrame(step)
      }
      requestAnimationFrame(step)
    })`)
    const processorMs = maxProcessorMs(present(await tab.page.tracing.stop(), 'a trace'))
    return { drawnMs, processorMs, longestMs: await numberIn(tab, 'Math.max(0, ...window.tasks)') }
  } finally {
    await browser.close()
  }
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** The processor time of a task, in microseconds. */
  readonly tdur?: number
}

/** The maximum processor time of a task of the thread that renders the page. */
function maxProcessorMs(trace: Uint8Array): number {
  const { traceEvents: events }: { traceEvents: TraceEvent[] } = JSON.parse(
    Buffer.from(trace).toString(),
  )
  const drawing = present(
    events.find(({ name }) => name === 'FireAnimationFrame'),
    'a frame',
  )
  const tasks = events.filter(
    ({ name, pid, tid }) => name === 'RunTask' && pid === drawing.pid && tid === drawing.tid,
  )
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1_000
}

/** The growth of the heap of the home page after the first minute; both values are read after a collection. */
async function heapGrowth(
  url: string,
  minutes: number,
): Promise<{ bytes: number; blocks: number }> {
  const browser = await openBrowser()
  const stopped = new AbortController()
  try {
    const tab = await openTab(browser, url, look)
    await tab.page.goto(`${url}/`)
    await tab.page.waitForSelector('.link-live')
    const sending = sendBlocks(url, stopped.signal)
    await delay(60_000)
    const before = await heapOf(tab)
    await delay(minutes * 60_000)
    const bytes = (await heapOf(tab)) - before
    stopped.abort()
    return { bytes, blocks: await sending }
  } finally {
    stopped.abort()
    await browser.close()
  }
}

async function heapOf({ page }: Tab): Promise<number> {
  const session = await page.createCDPSession()
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

/** Sends blocks at a steady rate until the signal aborts, and returns their number. */
async function sendBlocks(url: string, signal: AbortSignal): Promise<number> {
  const begun = performance.now()
  let offer = await offerOf(url)
  let sent = 0
  while (!signal.aborted) {
    if (!isFresh(offer)) offer = await offerOf(url)
    const payload = taggedData('0x62656e6368', `0x${sent.toString(16).padStart(8, '0')}`)
    await acceptedId(await post(url, blockOf(offer, payload).bytes))
    sent += 1
    await delay(Math.max(0, begun + (sent * 60_000) / blocksPerMinute - performance.now()))
  }
  return sent
}

async function numberIn({ page }: Tab, expression: string): Promise<number> {
  return Number(await page.evaluate(expression))
}
