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

/** A real browser, which comes as a package with the libraries and fonts that it needs. */

const packages = fileURLToPath(new URL('../node_modules/', import.meta.url))

/** Starts the browser. */
export async function openBrowser(): Promise<Browser> {
  const folder = await unpacked()
  const { default: puppeteer } = await import('puppeteer-core')
  return await puppeteer.launch({
    executablePath: join(folder, 'chromium'),
    headless: 'shell',
    // A container has no user to be shut in a sandbox as, and little shared memory.
    args: ['--no-sandbox', '--no-zygote', '--disable-dev-shm-usage'],
    env: {
      ...process.env,
      LANG: 'en_US.UTF-8',
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  })
}

/** The folder of the browser, unpacked once. */
async function unpacked(): Promise<string> {
  const folder = join(packages, '.chromium')
  if (existsSync(folder)) return folder
  const { TMPDIR, AWS_LAMBDA_JS_RUNTIME } = process.env
  mkdirSync(packages, { recursive: true })
  const beside = mkdtempSync(join(packages, '.chromium-'))
  // The package unpacks into the folder for temporary files, and its libraries where it takes the machine for its cloud.
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
    // Another process unpacked it meanwhile.
    if (!existsSync(folder)) throw failure
    rmSync(beside, { recursive: true })
  }
  return folder
}

/** Those of the package name the folder that the package unpacks into. Without any font the browser ends. */
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

/** A tab, and what went wrong in it. */
export interface Tab {
  readonly page: Page
  /** Errors of the console, exceptions, requests to other hosts, what the policy of the page refused, and answers above 399. */
  readonly problems: string[]
  /** The bytes of scripts and styles, as they came over the wire. */
  readonly codeBytes: () => number
  /** The operations that were sent, as `query Home` or `subscription NewMilestones`. */
  readonly operations: string[]
  /** How much of the page moved without an act of the reader, as browsers sum it up: 0 is nothing. */
  readonly layoutShift: () => Promise<number>
  close(): Promise<void>
}

/** How a tab looks. */
export interface Look {
  readonly width: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
}

/** Opens a tab with a storage of its own. */
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

/** What the policy refuses is an issue of the page, which the console does not always have. */
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

/** What axe finds in the page: one line for each rule that is broken, with the first element that breaks it. */
export async function accessibilityProblems({ page }: Tab): Promise<readonly string[]> {
  axeSource ??= readFileSync(join(packages, 'axe-core/axe.min.js'), 'utf8')
  // The policy of the page holds for scripts that the page adds; the debugger evaluates this one.
  await page.evaluate(axeSource)
  const found = await page.evaluate('axe.run({ resultTypes: ["violations"] })')
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

/** The name of the file that an act in a page saves in a folder. */
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
 * Makes the history of an address longer in the pages that are loaded from now on: the gateway gives a page of it, whose oldest
 * row the answer gets again on its way, each time with its number as its amount.
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
