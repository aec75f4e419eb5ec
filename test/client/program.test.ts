import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'

/** The client as the package gives it to others; `npm test` has built it. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const [owner = '0x', other = '0x'] = addresses
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  for (let i = 0; i < 3; i++) await gateway.commit(slotOf(owner, other))
  await gateway.known()
})
afterAll(() => gateway.close())

/** Follows from the beginning until it has told everything there is, and gives the cursors of the updates. */
const script = (url: string, from: string) => `
  import { follow } from '${from}'
  const cursors = []
  for await (const event of follow({ url: '${url}', afterMilestone: 0 })) {
    if (event.__typename === 'FeedEnded') throw new Error(event.code)
    for (const { cursor } of event.updates ?? []) cursors.push(cursor)
    if (event.__typename === 'FeedProgress' && event.mode === 'LIVE') break
  }
`

test('a program follows by the name of the package', async () => {
  const source = `${script(gateway.url, 'ledger-gateway/client')} console.log(cursors.length)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd: root })
  const [said, complained, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  expect(complained).toBe('')
  expect(code).toBe(0)
  expect(Number(said)).toBe(rowCount())
})

/** Needs a browser: `CHROMIUM=/usr/bin/chromium npx vitest run test/client`. */
describe.runIf(process.env.CHROMIUM !== undefined)('in a browser', () => {
  test('a page of another origin follows', async () => {
    let tell: (count: string) => void = () => {}
    const told = new Promise<string>((resolve) => {
      tell = resolve
    })
    const server = serveClient(script(gateway.url, './follow.js'), tell)
    const profile = mkdtempSync(join(tmpdir(), 'ledger-gateway-browser-'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const page = `http://127.0.0.1:${port}/`
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`]
    const quiet = ['--no-first-run', '--disable-background-networking', '--disable-sync']
    const browser = spawn(process.env.CHROMIUM ?? '', [...flags, ...quiet, page])
    const ended = once(browser, 'exit')
    expect(Number(await told)).toBe(rowCount())
    browser.kill()
    await ended
    server.close()
    rmSync(profile, { recursive: true, force: true })
  })
})

/** Updates of the class that is followed by default. */
function rowCount(): number {
  const owned = gateway.log.rows.filter((row) => row.class === 'OWNED')
  expect(owned).not.toEqual([])
  return owned.length
}

/** A page that runs the script and posts how many updates it was told. */
function serveClient(source: string, onTold: (count: string) => void): Server {
  return createServer(async (request, response) => {
    const path = request.url ?? '/'
    if (request.method === 'POST') {
      onTold(await text(request))
      response.end()
    } else if (path.endsWith('.js')) {
      response.setHeader('content-type', 'text/javascript')
      createReadStream(join(root, 'dist/client', path)).pipe(response)
    } else {
      response.setHeader('content-type', 'text/html')
      const post = `await fetch('/', { method: 'POST', body: cursors.length })`
      response.end(`<!doctype html><script type="module">${source}${post}</script>`)
    }
  })
}
