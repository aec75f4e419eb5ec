import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProcessIo, StopSignal } from '../../src/cli/command.ts'
import { faucet } from '../../src/cli/faucet.ts'
import { feed } from '../../src/cli/feed.ts'
import { addressText } from '../support/chain-ids.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** `ledger-gateway feed`: JSON events for programs, a table on terminals, and reconnection. */

const address = addressText(0, 9, { hrp: 'tst' })

let folder = ''
let gateway: TestGateway
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-feed-'))
  await start('0')
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

/** Starts a gateway on the same file each time, so that it can restart. */
async function start(port: string): Promise<void> {
  const env = { PORT: port, DATABASE_URL: `file:${join(folder, 'test.db')}` }
  gateway = await startGateway({ env })
  await untilHealth(gateway.url)
}

async function pay(): Promise<string> {
  const { stdout } = await runCommand(faucet, [address, '--url', gateway.url])
  return JSON.parse(stdout).transactionId
}

/** Starts the command and returns its output until it is stopped. */
function startFeed(words: readonly string[], given: Partial<ProcessIo> = {}) {
  let [stdout, stderr] = ['', '']
  let stop = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    stop = () => resolve('SIGINT')
  })
  const run = runCommand(feed, [...words, '--url', gateway.url], {
    stopped,
    stdout: (text) => {
      stdout += text
    },
    stderr: (text) => {
      stderr += text
    },
    ...given,
  })
  const events = () =>
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const stopFeed = async () => {
    stop()
    return (await run).code
  }
  return { stdout: () => stdout, stderr: () => stderr, events, stop: stopFeed }
}

test('the feed command prints every event as JSON, also after a restart of the gateway, and resumes', async () => {
  const following = startFeed([address])
  const opened = () => following.events().filter(({ __typename }) => __typename === 'FeedOpened')
  const updates = () => following.events().flatMap((event) => event.updates ?? [])
  await until(() => opened().length === 1, { what: 'the feed is open' })
  const first = await pay()
  await until(() => updates().length === 1, { what: 'the first update' })
  const port = new URL(gateway.url).port
  await gateway.close()
  const waiting = `ledger-gateway feed: waiting for ${gateway.url}\n`
  await until(() => following.stderr() === waiting, { what: 'a line about the outage' })
  await start(port)
  await until(() => opened().length > 1, { what: 'the feed is open again' })
  const second = await pay()
  await until(() => updates().length === 2, { what: 'the second update' })
  expect(await following.stop()).toBe(0)
  expect(following.stderr(), 'one line for the whole outage').toBe(waiting)
  const ids = updates().map(({ outputId }) => outputId.slice(0, first.length))
  expect(ids).toEqual([first, second])
  expect(updates().map(({ output }) => output)).toEqual(Array(2).fill({ amount: '1000000000' }))

  const [{ cursor }] = updates()
  const resumed = startFeed([address, '--after', cursor])
  await until(() => resumed.stdout().includes(second), { what: 'the update after the cursor' })
  expect(await resumed.stop()).toBe(0)
  expect(resumed.stdout()).not.toContain(first)
})

test('the feed command prints a table with a status line on a terminal, and reports a resumption', async () => {
  const following = startFeed([address], { isTerminal: true, progressColumns: 200 })
  await until(() => following.stdout().startsWith('milestone '), { what: 'the headings' })
  const transactionId = await pay()
  await until(() => following.stdout().includes(transactionId), { what: 'the row' })
  const [, row = ''] = following.stdout().split('\n')
  expect(row).toMatch(
    /^ *\d+ {2}\d\d:\d\d:\d\d {2} {7}\+1000000000 {2}tst1\w{59} {2}0x[0-9a-f]{76}$/,
  )
  await until(() => /\rlive at milestone \d+, 1 update, /.test(following.stderr()), {
    what: 'the status line',
  })
  const { url } = gateway
  const { port } = new URL(url)
  await gateway.close()
  await until(() => following.stderr().endsWith(`\rwaiting for ${url}\u001b[K`), {
    what: 'the status line of a lost connection',
  })
  await start(port)
  await until(() => following.stdout().includes('-- the connection was lost; resumed after '), {
    what: 'the resumption',
  })
  expect(await following.stop()).toBe(0)
  // The status line is erased.
  expect(following.stderr().endsWith('\r\u001b[K')).toBe(true)
})

test('the feed command reports why it cannot follow', async () => {
  const foreign = addressText(0, 9, { hrp: 'smr' })
  expect(await runCommand(feed, [foreign, '--url', gateway.url])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^ledger-gateway feed: [A-Z_]+: .+\n$/),
  })
  expect(await runCommand(feed, [address, '--after', 'x', '--url', gateway.url])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ledger-gateway feed: CURSOR_[A-Z]+: /),
  })
  expect(await runCommand(feed, ['x', '--url', 'here'])).toMatchObject({
    code: 2,
    stderr: `ledger-gateway feed: x is not a Bech32 address
ledger-gateway feed: --url must be http(s)://HOST[:PORT][/PATH], not here
Try: ledger-gateway feed --help
`,
  })
})
