import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page, Protocol } from 'puppeteer-core'
import { present } from '../../src/lib/assert.ts'

/** A real browser. Its npm package contains the libraries and fonts that it needs. */

const packages = fileURLToPath(new URL('../node_modules/', import.meta.url))

/** Starts the browser. */
export async function openBrowser(): Promise<Browser> {
  const folder = await unpacked()
  const { default: puppeteer } = await import('puppeteer-core')
  return await puppeteer.launch({
    executablePath: join(folder, 'chromium'),
    headless: 'shell',
    // A container has no user namespaces for the sandbox, no graphics processor, and little shared memory.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: {
      ...process.env,
      LANG: 'en_US.UTF-8',
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  })
}

/** Unpacks the browser once, and returns its folder. */
async function unpacked(): Promise<string> {
  const folder = join(packages, '.chromium')
  if (existsSync(folder)) return folder
  const { TMPDIR, AWS_LAMBDA_JS_RUNTIME } = process.env
  mkdirSync(packages, { recursive: true })
  const beside = mkdtempSync(join(packages, '.chromium-'))
  // The package unpacks into the folder for temporary files. It unpacks the libraries only if it detects AWS Lambda.
  Object.assign(process.env, { TMPDIR: beside, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' })
  try {
    const { default: chromium } = await import('@sparticuz/chromium')
    await chromium.executablePath()
  } finally {
    restore({ TMPDIR, AWS_LAMBDA_JS_RUNTIME })
  }
  writeFileSync(join(beside, 'fonts/fonts.conf'), fontSettings)
  try {
    renameSync(beside, folder)
  } catch (failure) {
    // Another process has unpacked the browser in the meantime.
    if (!existsSync(folder)) throw failure
    rmSync(beside, { recursive: true })
  }
  return folder
}

/** Replaces the font settings of the package, which name the temporary folder. Without any font the browser exits. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
</fontconfig>
`

function restore(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** A tab, and the problems that occurred in it. */
export interface Tab {
  readonly page: Page
  /** Console errors, exceptions, requests to other hosts, violations of the page's policy, and responses with a status above 399. */
  readonly problems: string[]
  /** The compressed size of the received scripts and styles, in bytes. */
  readonly codeBytes: () => number
  /** The operations that were sent, as `query Home` or `subscription NewMilestones`. */
  readonly operations: string[]
  /** The cumulative layout shift of the page without user input; 0 means that nothing moved. */
  readonly layoutShift: () => Promise<number>
  close(): Promise<void>
}

/** The viewport and the theme of a tab. */
export interface Look {
  readonly width: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
}

/** Opens a tab with its own storage. */
export async function openTab(browser: Browser, origin: string, look: Look): Promise<Tab> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  const { width, height = 900, theme = 'light' } = look
  await page.setViewport({ width, height })
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: theme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
  const problems: string[] = []
  const operations: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:'))
      problems.push(`request to ${url}`)
    if (request.method() === 'POST') operations.push(operationOf(request.postData() ?? ''))
  })
  let code = 0
  page.on('response', (response) => {
    if (/\.(?:js|css)$/.test(response.url())) code += Number(response.headers()['content-length'])
  })
  await reportViolations(page, problems)
  await page.evaluateOnNewDocument(`{
    window.layoutShift = 0
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value
    }).observe({ type: 'layout-shift', buffered: true })
  }`)
  return {
    page,
    problems,
    operations,
    codeBytes: () => code,
    layoutShift: async () => Number(await page.evaluate('window.layoutShift')),
    close: () => context.close(),
  }
}

/** Records violations of the page's policy from the browser's issues, because the console does not report all of them. */
async function reportViolations(page: Page, problems: string[]): Promise<void> {
  const session = await page.createCDPSession()
  await session.send('Audits.enable')
  session.on('Audits.issueAdded', ({ issue }: Protocol.Audits.IssueAddedEvent) => {
    if (issue.code === 'ContentSecurityPolicyIssue') problems.push(JSON.stringify(issue.details))
  })
}

function operationOf(body: string): string {
  const { query = '' }: { query?: string } = JSON.parse(body)
  const [, kind, name] = /^(\w+) (\w+)/.exec(query) ?? []
  return `${kind} ${name}`
}

/**
 * Runs axe in the page, and returns one line for each violated rule with the first element that violates it. `rule` names a rule that
 * axe does not check by default, and that is checked alone.
 */
export async function accessibilityProblems(
  { page }: Tab,
  rule?: string,
): Promise<readonly string[]> {
  axeSource ??= readFileSync(join(packages, 'axe-core/axe.min.js'), 'utf8')
  // The policy of the page forbids added script elements, so the debugger evaluates the script.
  await page.evaluate(axeSource)
  const only = rule === undefined ? {} : { runOnly: { type: 'rule', values: [rule] } }
  const options = JSON.stringify({ resultTypes: ['violations'], ...only })
  const found = await page.evaluate(`axe.run('html', ${options})`)
  const { violations } = found as { readonly violations: readonly Violation[] }
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${present(nodes[0], 'an element').html}`,
  )
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

let axeSource: string | undefined

/** Performs an action that downloads a file into a folder, and returns the name of the file. */
export async function savedBy(page: Page, folder: string, act: () => unknown): Promise<string> {
  const session = await page.createCDPSession()
  const { id: browserContextId } = page.browserContext()
  await session.send('Browser.setDownloadBehavior', {
    ...{ behavior: 'allow', downloadPath: folder, eventsEnabled: true },
    ...(browserContextId !== undefined && { browserContextId }),
  })
  const name = new Promise<string>((resolve) => {
    session.on('Browser.downloadWillBegin', ({ suggestedFilename }) => {
      session.on('Browser.downloadProgress', ({ state }) => {
        if (state === 'completed') resolve(suggestedFilename)
      })
    })
  })
  await act()
  return await name
}

/**
 * Makes the history of an address longer in all pages that the tab loads afterwards: appends copies of the oldest row to each
 * page of the history that the gateway sends. The amount of each copy is its number.
 */
export async function lengthenHistories(page: Page, rows: number): Promise<void> {
  await page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const response = await send(...request)
      if (!response.headers.get('content-type')?.includes('json')) return response
      const answer = await response.json()
      const updates = answer.data?.address?.updates
      const oldest = updates?.nodes.at(-1)
      for (let n = 0; oldest !== undefined && n < ${rows}; n++)
        updates.nodes.push({ ...oldest, cursor: 'copy' + n, output: { ...oldest.output, amount: String(n) } })
      return new Response(JSON.stringify(answer), { headers: response.headers })
    }
  }`)
}

/** An answer that the page receives later. */
export interface HeldAnswer {
  /** Waits until the gateway has answered. */
  isHeld(): Promise<unknown>
  /** Gives the answer to the page, and waits until the page has rendered it. */
  release(): Promise<void>
}

/** Holds the answer to the next request that contains a text, such as `query Home`, in a page that is loaded. */
export async function heldAnswer({ page }: Tab, operation: string): Promise<HeldAnswer> {
  await page.evaluate((wanted) => {
    const send = window.fetch
    const held: { isHeld?: boolean; release?: () => void } = {}
    Object.assign(window, { held })
    window.fetch = async (...request) => {
      if (!String(request[1]?.body).includes(wanted)) return await send(...request)
      window.fetch = send
      const answer = await (await send(...request)).text()
      const released = new Promise<void>((resolve) => Object.assign(held, { release: resolve }))
      held.isHeld = true
      await released
      request[1]?.signal?.throwIfAborted()
      return new Response(answer, { headers: { 'content-type': 'application/json' } })
    }
  }, operation)
  return {
    isHeld: () => page.waitForFunction('window.held.isHeld'),
    release: async () => {
      await page.evaluate(`(async () => {
        window.held.release()
        for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame)
      })()`)
    },
  }
}
