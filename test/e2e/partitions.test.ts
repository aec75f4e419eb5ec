import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../src/client/follow.ts'
import { present } from '../../src/lib/assert.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { makeFolder, type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  isFresh,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  untilHealth,
  user,
  users,
} from '../support/wallet.ts'

/** Partitions and splits the log of a gateway that books transfers and serves a follower, and kills the command meanwhile. */

const rows = 200

const folder = makeFolder()
let database: TestDatabase
let gateway: Program
let client: Client

beforeAll(async () => {
  database = await present(databases[1], 'PostgreSQL').create()
  const env = { DATABASE_URL: database.url, KEY_FILE: `${folder.databaseFile}.key` }
  gateway = await startProgram(env)
  await untilHealth(gateway.url)
  client = new Client(database.url)
  await client.connect()
}, 120_000)
afterAll(async () => {
  await gateway.end('SIGTERM')
  await client.end()
  await database.remove()
  folder.remove()
})

test('followers get every update once while the log is partitioned and split under load', async () => {
  const follower = await followAll()
  const load = startLoad()
  await until(async () => (await logEnd()) > 2 * rows, { deadlineMs: 60_000 })

  // A transaction that reads the log blocks the command before each swap of tables, where it is killed.
  await whileReading(() => killWhileWaiting('--rows', '1000'))
  const [first = []] = await partition('--rows', '1000')
  expect(first).toMatchObject({ first: 1 })
  await whileReading(() => killWhileWaiting('--rows', String(rows), '--split'))
  const copies = `SELECT count(*)::int FROM pg_class
    WHERE relname ~ '^ledger_updates_\\d+_to_\\d+$' AND relkind = 'r' AND NOT relispartition`
  expect(await numberIn(copies)).toBeGreaterThan(2)
  const ranges = await partition('--rows', String(rows), '--split')
  expect(ranges.slice(0, 2)).toEqual([
    { first: 1, last: rows },
    { first: rows + 1, last: 2 * rows },
  ])
  expect(await numberIn(copies)).toBe(0)

  // The log grows beyond its former last partition.
  const boundary = Math.ceil((await logEnd()) / rows) * rows
  await until(async () => (await logEnd()) > boundary + 10, { deadlineMs: 60_000 })
  await load.stop()
  const last = await logEnd()
  await until(() => follower.updates.length >= last - follower.from)
  await follower.stop()
  const { rows: written } = await client.query({
    text: `SELECT '0x' || encode("outputId", 'hex') || ' ' || "isSpent" FROM ledger_updates WHERE seq > $1 ORDER BY seq`,
    values: [follower.from],
    rowMode: 'array',
  })
  expect(follower.updates).toEqual(written.flat().slice(0, follower.updates.length))
  expect(gateway.logged()).not.toMatch(/writer-failed|log-replaced|log-not-extended/)
  const { code, stdout } = await command('check')
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { findings: [] }])
}, 240_000)

/** Follows the whole log from its current end. */
async function followAll() {
  const ending = new AbortController()
  const updates: string[] = []
  const from = await logEnd()
  let isOpen = false
  const classes = ['OWNED', 'MENTIONED'] as const
  const running = (async () => {
    for await (const event of follow({ url: gateway.url, classes, signal: ending.signal })) {
      isOpen = true
      if (event.__typename === 'FeedReset') throw new Error(`reset: ${event.reason}`)
      if (event.__typename !== 'LedgerUpdateBatch') continue
      updates.push(...event.updates.map(({ outputId, isSpent }) => `${outputId} ${isSpent}`))
    }
  })()
  await until(() => isOpen)
  const stop = async () => {
    ending.abort()
    await running
  }
  return { from, updates, stop }
}

/** Splits the outputs of all users repeatedly until it is stopped. */
function startLoad() {
  let isOver = false
  const running = (async () => {
    let offer = await offerOf(gateway.url)
    const coins: { outputId: OutputId; key: (typeof users)[number]; amount: bigint }[] = []
    for (let n = 1; n < users.length && !isOver; n++) {
      const key = user(n)
      const spend = present((await genesisOutputs(gateway.url, key))[0], 'genesis output')
      coins.push({ outputId: spend, key, amount: 1_000_000_000n })
    }
    while (!isOver) {
      const coin = present(coins.shift(), 'a coin')
      if (!isFresh(offer)) offer = await offerOf(gateway.url)
      const parts = coin.amount > 500_000_000n ? 50 : coin.amount > 8_000_000n ? 2 : 1
      const amount = coin.amount / BigInt(parts)
      const rest = coin.amount - amount * BigInt(parts - 1)
      const outputs = Array.from({ length: parts }, (_, i) =>
        ownedBy(coin.key, i === 0 ? rest : amount),
      )
      const creationSlot = slotNow(offer.network)
      const spending = { spend: coin.outputId, key: coin.key, outputs, creationSlot }
      const payment = paymentOf(offer.network, spending)
      const post = () => postBytes(gateway.url, blockOf(offer, payment.payload).bytes)
      let response = await post()
      if (response.status === 400) {
        // On a busy machine the offer may be too old when the block arrives.
        offer = await offerOf(gateway.url)
        response = await post()
      }
      if (response.status !== 201) throw new Error(await response.text())
      for (const [i, outputId] of payment.created.entries()) {
        coins.push({ outputId, key: coin.key, amount: i === 0 ? rest : amount })
      }
    }
  })()
  return {
    stop: async () => {
      isOver = true
      await running
    },
  }
}

async function numberIn(text: string): Promise<number> {
  const { rows: found } = await client.query({ text, rowMode: 'array' })
  return Number(found[0]?.[0])
}

const logEnd = () => numberIn('SELECT seq FROM published_tip')

/** Runs `work` while a transaction holds the log for longer than a second. */
async function whileReading(work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN; SELECT FROM ledger_updates LIMIT 1; SELECT pg_sleep(1.1)')
  try {
    await work()
  } finally {
    await client.query('COMMIT')
  }
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

function start(...words: readonly string[]) {
  const env = { ...process.env, DATABASE_URL: database.url }
  return spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs the command until it waits for the log, then kills it. */
async function killWhileWaiting(...words: readonly string[]): Promise<void> {
  const child = start('partition', ...words)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  await until(() => stderr.includes('waiting for'), { deadlineMs: 60_000 })
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function command(...words: readonly string[]) {
  const child = start(...words)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

async function partition(...words: readonly string[]): Promise<object[]> {
  const { code, stdout, stderr } = await command('partition', ...words)
  expect([code, stderr.replaceAll(/waiting for .*\n/g, '')]).toEqual([0, ''])
  return JSON.parse(stdout).partitions
}
