import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { type Balancer, startBalancer } from '../support/balancer.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { addressOf, user } from '../support/wallet.ts'

/** Two gateways behind a load balancer are restarted one after the other while clients send requests. */

const rounds = 3
const perSecond = 200

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)
const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-rolling-'))
const programs = new Set<Program>()
let database: TestDatabase
let balancer: Balancer

beforeAll(async () => {
  database = await kind.create()
  balancer = await startBalancer()
})
afterAll(async () => {
  await balancer.close()
  for (const program of programs) await program.end('SIGKILL')
  await database.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('no request fails while gateways behind a load balancer are restarted (8)', async () => {
  const gateways = [await startMember(), await startMember()]
  const load = startLoad(balancer.url)
  for (let round = 0; round < rounds; round++) {
    for (const [i, former] of gateways.entries()) {
      await former.end('SIGTERM')
      balancer.remove(former.url)
      programs.delete(former)
      gateways[i] = await startMember()
    }
    // Every gateway receives requests, including the last one.
    for (const { url } of gateways)
      await until(() => balancer.sent(url) > 0, { what: `requests to ${url}` })
  }
  const { answered, failures } = await load.stop()
  expect(failures).toEqual([])
  expect(answered).toBeGreaterThan(perSecond * rounds)
}, 300_000)

/** Starts a gateway and waits until the load balancer has found it ready. */
async function startMember(): Promise<Program> {
  const program = await startProgram({
    DATABASE_URL: database.url,
    KEY_FILE: join(folder, 'test.key'),
    // Long enough for several health checks of the balancer, even on a busy machine.
    DRAIN_DELAY: '2',
    DRAIN_SECONDS: '1',
  })
  programs.add(program)
  await balancer.add(program.url)
  return program
}

/** Sends requests at a constant rate without waiting for responses: reads by REST and GraphQL, and blocks. */
function startLoad(url: string) {
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  let answered = 0
  let isOver = false

  async function send(path: string, init: RequestInit, status: number): Promise<void> {
    try {
      const response = await fetch(url + path, init)
      const body = await response.text()
      if (response.status === status && !body.startsWith('{"errors"')) answered++
      else failures.push(`${path}: ${response.status} ${body}`)
    } catch (failure) {
      failures.push(`${path}: ${inspect(failure)}`)
    }
  }

  const updates = `/api/explorer/v2/ledger/updates/by-address/${addressOf(user(0))}`
  /** Sends few expensive requests: the test shows that all are answered, not the capacity of a gateway. */
  const sendNth = (n: number) => {
    const tag = `0x${n.toString(16).padStart(8, '0')}`
    if (n % 100 === 0) return send('/api/core/v3/blocks', posted({ type: 0, tag, data: '0x' }), 201)
    if (n % 50 === 1) return send('/graphql', posted({ query: '{ milestone { index } }' }), 200)
    return send(n % 10 === 2 ? updates : '/api/routes', {}, 200)
  }

  const running = (async () => {
    const begun = performance.now()
    for (let n = 0; !isOver; n++) {
      const one: Promise<void> = sendNth(n).finally(() => open.delete(one))
      open.add(one)
      await delay(Math.max(0, begun + ((n + 1) * 1_000) / perSecond - performance.now()))
    }
  })()

  return {
    stop: async () => {
      isOver = true
      await running
      await Promise.all(open)
      return { answered, failures }
    },
  }
}

function posted(body: object): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}
