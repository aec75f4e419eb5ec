import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import type { Browser } from 'puppeteer-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { openBrowser, openTab } from '../support/browser.ts'
import { install, packClient } from '../support/packed.ts'
import { rest, restJson } from '../support/rest.ts'
import { serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** The package of the client and its examples in `docs/examples/client`. `npm test` has built the packed files. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const examples = join(root, 'docs/examples/client')
let folder = ''
let tarball = ''
/** A folder with only the client installed, and the examples. */
let home = ''
let gateway: TestGateway
let browser: Browser
let pages: Server
let origin = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-client-'))
  tarball = await packClient(folder)
  home = join(folder, 'home')
  await install(home, tarball)
  for (const name of readdirSync(examples)) copyFileSync(join(examples, name), join(home, name))
  // Users of the hook have React, and payers the SDK.
  for (const scope of ['@types', '@iota']) mkdirSync(join(home, 'node_modules', scope))
  const packages = ['react', 'react-dom', '@types/react', '@types/react-dom', '@iota/sdk-wasm']
  for (const name of packages) {
    symlinkSync(join(root, 'test/node_modules', name), join(home, 'node_modules', name))
  }
  gateway = await startGateway()
  await untilHealth(gateway.url)
  browser = await openBrowser()
  pages = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    response.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html')
    const file = join(home, pathname)
    response.end(existsSync(file) ? readFileSync(file) : undefined)
  })
  pages.listen(0, '127.0.0.1')
  await once(pages, 'listening')
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
}, 180_000)

afterAll(async () => {
  pages.close()
  await browser.close()
  await gateway.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the package of the client', { timeout: 120_000 }, () => {
  test('has no dependencies and has types for each entry and module resolution', async () => {
    const { packages } = JSON.parse(
      readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8'),
    )
    expect(Object.keys(packages)).toEqual(['node_modules/@ledger-gateway/client'])
    const bytes = new Uint8Array(readFileSync(tarball))
    const checked = await checkPackage(createPackageFromTarballData(bytes))
    if (!checked.types) throw new Error('the package has no types')
    // The package has no CommonJS files.
    const problems = checked.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM')
    expect(problems).toEqual([])
    expect(Object.keys(checked.entrypoints)).toEqual(['.', './react', './scalars'])
    const { messages } = await publint({ pack: { tarball: bytes.buffer } })
    expect(messages).toEqual([])
  })

  test('has the size that docs/client.md states', () => {
    const page = readFileSync(join(root, 'docs/client.md'), 'utf8')
    const [, packages, kilobytes] = /installs\s(\w+) package of (\d+) kB/.exec(page) ?? []
    const code = readdirSync(join(home, 'node_modules/@ledger-gateway/client'))
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(home, 'node_modules/@ledger-gateway/client', name)).length)
    const size = code.reduce((sum, one) => sum + one, 0)
    expect([packages, Number(kilobytes)]).toEqual(['one', Math.ceil(size / 1000)])
  })

  test('has types with which the examples compile', async () => {
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      jsx: 'react-jsx',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    }
    writeFileSync(
      join(home, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }),
    )
    const compiler = join(root, 'node_modules/typescript-compiler/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', home]).catch(
      (failure) => failure,
    )
    expect(stdout).toBe('')
  })
})

async function pay(address: string): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  await rest(`${gateway.url}/api/enqueue`, { ...init, body: JSON.stringify({ address }) })
}

/** Bundles a React component of the folder of the client as `built/NAME.html`. */
async function bundle(name: string): Promise<void> {
  const page = join(home, `${name}.html`)
  writeFileSync(page, `<body></body><script type="module" src="./${name}.tsx"></script>`)
  await build({
    configFile: false,
    root: home,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic' } },
    build: { outDir: join(home, 'built'), emptyOutDir: false, rolldownOptions: { input: page } },
  })
}

/** Opens a page with another origin than the gateway, pays its address when it follows, and waits until it shows the payment. */
async function watch(path: string, index: number, following: string): Promise<void> {
  const address = addressOf(user(index))
  const { page, problems, close } = await openTab(browser, '', { width: 800 })
  await page.goto(`${origin}/${path}?${new URLSearchParams({ url: gateway.url, address })}`)
  await until(
    async () =>
      (await page.evaluate('document.getElementById("state")?.textContent')) === following,
  )
  await pay(address)
  await until(async () =>
    /^\+\d+$/.test(String(await page.evaluate('document.querySelector("li")?.textContent'))),
  )
  await close()
  expect(problems.filter((one) => !one.startsWith('request to http://127.0.0.1'))).toEqual([])
}

// Concurrent, because each waits for its payment.
describe.concurrent('the examples', { timeout: 120_000 }, () => {
  test('a page without a bundler follows an address', () => watch('browser.html', 5, 'FeedOpened'))

  test('a React component follows an address', async () => {
    await bundle('react')
    await watch('built/react.html', 6, 'LIVE')
  })

  test('a Node program says that its cursor belongs to another log', async () => {
    const other = await serveLog()
    writeFileSync(join(home, 'cursor'), other.log.cursorAt(0))
    await other.close()
    const address = addressOf(user(8))
    const child = spawn(process.execPath, ['node.ts', gateway.url, address], { cwd: home })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    const [code] = await once(child, 'close')
    const [, error] = /^Error: (.*)$/m.exec(errors) ?? []
    expect([code, error]).toEqual([1, 'LOG_REPLACED: delete ./cursor to start anew'])
  })

  test('a Node program goes on where it ended, also if it ended before the first update', async () => {
    const address = addressOf(user(4))
    const place = join(home, 'resumed')
    mkdirSync(place)
    const followUntil = async (line: RegExp) => {
      const child = spawn(process.execPath, [join(home, 'node.ts'), gateway.url, address], {
        cwd: place,
      })
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
      const ended = once(child, 'close')
      await until(() => line.test(output) && existsSync(join(place, 'cursor'))).finally(() =>
        child.kill(),
      )
      await ended
    }
    const path = `/api/explorer/v2/ledger/updates/by-address/${address}`
    const countUpdates = async () => (await restJson(`${gateway.url}${path}`)).items.length
    const before = await countUpdates()
    await followUntil(/^following from /m)
    await pay(address)
    await until(async () => (await countUpdates()) > before)
    await followUntil(/^\+\d+ 0x/m)
  })

  test('the official SDK pays an address', async () => {
    const words = ['pay.mjs', gateway.url, addressOf(user(9)), '5000000']
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: home })
    const [, block = '', transaction = ''] = /^block (\S+), transaction (\S+)$/m.exec(stdout) ?? []
    const path = `${gateway.url}/api/core/v3`
    await restJson(`${path}/blocks/${block}`)
    const metadata = () => restJson(`${path}/transactions/${transaction}/metadata`)
    await until(async () => (await metadata()).transactionState === 'finalized')
  })

  test('curl follows an address', async () => {
    const child = spawn('sh', ['curl.sh', gateway.url, addressOf(user(7))], {
      cwd: home,
      detached: true,
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await until(() =>
      /^data: .*"updates":\[\{"isSpent":false,"output":\{"amount":"\d+"/m.test(output),
    )
    const ended = once(child, 'exit')
    process.kill(-present(child.pid, 'the process of curl'))
    await ended
    expect(output).toMatch(/^id: \S+\nevent: next$/m)
  })
})

/** Shows the result of the hook. The test sets its address, renders it again and removes it with `window.show`. */
const component = `
import { useFeed } from '@ledger-gateway/client/react'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

const url = new URLSearchParams(location.search).get('url') ?? ''

function Feed({ address, round }: { readonly address: string; readonly round: number }) {
  const { state, updates, ended } = useFeed({ url, addresses: [address], keep: 1 })
  const newest = updates.map((update) => update.address)
  return <p>{[round, state, ...newest, ...(ended ? [ended.code] : [])].join(' ')}</p>
}

function Page() {
  const [shown, show] = useState<{ readonly address: string; readonly round: number }>()
  Object.assign(window, { show })
  return shown && <Feed {...shown} />
}

createRoot(document.body).render(<StrictMode><Page /></StrictMode>)
`

test('useFeed opens a new feed only for another address and ends with its component', async () => {
  writeFileSync(join(home, 'hook.tsx'), component)
  await bundle('hook')
  const { page, close } = await openTab(browser, '', { width: 800 })
  // The page counts its requests, in order with its output: the browser reports a request a little later.
  await page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.requests = 0
    window.fetch = (...request) => {
      window.requests++
      return send(...request)
    }
  }`)
  const requests = async () => Number(await page.evaluate('window.requests'))
  let open = 0
  page.on('request', (request) => (request.method() === 'POST' ? open++ : 0))
  for (const event of ['requestfailed', 'requestfinished'] as const) {
    page.on(event, (request) => (request.method() === 'POST' ? open-- : 0))
  }
  await page.goto(`${origin}/built/hook.html?${new URLSearchParams({ url: gateway.url })}`)
  const show = async (shown: object | undefined, text: string) => {
    await page.evaluate(`show(${JSON.stringify(shown)})`)
    await until(async () => (await page.evaluate('document.body.textContent')) === text)
  }
  const [first, second] = [addressOf(user(8)), addressOf(user(9))]
  await show({ address: first, round: 1 }, '1 LIVE')
  const before = await requests()
  await show({ address: first, round: 2 }, '2 LIVE')
  expect(await requests()).toBe(before)
  await show({ address: second, round: 3 }, '3 LIVE')
  expect(await requests()).toBe(before + 1)
  await Promise.all([pay(first), pay(second)])
  await show({ address: second, round: 4 }, `4 LIVE ${second}`)
  await show({ address: 'nowhere', round: 5 }, '5 ENDED ADDRESS_MALFORMED')
  await show({ address: first, round: 6 }, '6 LIVE')
  await until(() => open === 1)
  await show(undefined, '')
  await until(() => open === 0)
  await close()
}, 120_000)
