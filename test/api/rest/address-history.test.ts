import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestCost } from '../../../src/api/clients/client-shares.ts'
import { bytesOfUnit } from '../../../src/api/graphql/execution/prices.ts'
import { defaultLimits } from '../../../src/api/limits.ts'
import { csvCell } from '../../../src/api/rest/address-history.ts'
import { send } from '../../../src/api/rest/respond.ts'
import { type Feed, openFeed } from '../../../src/feed/open.ts'
import { createWake } from '../../../src/feed/wake.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { developmentParameters } from '../../../src/node/embedded/development-parameters.ts'
import { addressKey } from '../../../src/protocol/ids.ts'
import { addressText } from '../../../src/service/addresses/address-text.ts'
import type { HistoryRow } from '../../../src/service/addresses/history-rows.ts'
import type { Services } from '../../../src/service/services.ts'
import type { Store } from '../../../src/store/contract.ts'
import { type ActivityLedger, foundActivityLedger } from '../../support/activity-model.ts'
import { defaultDatabase, openedStore, takenLease } from '../../support/databases.ts'
import { historyOf } from '../../support/history-model.ts'
import { randomAddresses } from '../../support/random-outputs.ts'
import { rest } from '../../support/rest.ts'
import { startTransports, type TestTransports } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'

const parameters = { ...developmentParameters(1_700_000_000), slotDurationInSeconds: 10 }
const [someone = '0x'] = randomAddresses.map(addressKey)
const bech32 = addressText(parameters.bech32Hrp, someone)
const path = `/api/gateway/v1/addresses/${bech32}/history`

const database = await defaultDatabase().create()
let store: Store
let ledger: ActivityLedger
let feed: Feed
let doors: TestTransports
let services: Services
/** While this is set, reads of the log wait for it. */
let gate: Promise<void> | undefined

beforeAll(async () => {
  store = await openedStore(database.url)
  ledger = await foundActivityLedger({ store, term: await takenLease(store) }, 51, parameters)
  for (let n = 0; n < 4; n++) await ledger.commit(20)
  feed = await openFeed({ reader: store.read, parameters, wake: createWake(), log: silentLog })
  const read = {
    ...store.read,
    updates: async (range: Parameters<Store['read']['updates']>[0]) => {
      await gate
      return store.read.updates(range)
    },
  }
  const source = { status: () => ({ reasons: [], role: 'WRITER', term: 1 }), node: undefined }
  const parts = { store: { ...store, read }, source, parameters, feed, mayLag: true }
  services = { ...parts, clock: systemClock } as unknown as Services
  doors = await startTransports(services, { ...defaultLimits, subscriptions: 1 })
})
afterAll(async () => {
  await doors.close()
  await feed.close()
  await store.close()
  await database.remove()
})

async function load(query: string) {
  const response = await rest(`${doors.url}${path}${query}`)
  return { response, text: await response.text() }
}

/** Returns the response as soon as its head has arrived. */
async function startDownload(): Promise<IncomingMessage> {
  const [response] = await once(get(`${doors.url}${path}`), 'response')
  return response
}

/** Splits a file without quotes into rows and cells. */
function cellsOf(text: string): string[][] {
  const lines = text.split('\r\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => line.split(','))
}

/** Returns the cells of a row in the file, without the cursor. */
function expectedCells(row: Omit<HistoryRow, 'cursor'>): string[] {
  return [
    new Date(row.time * 1_000).toISOString().replace('.000', ''),
    `${row.milestoneIndex}`,
    row.transactionId ?? '',
    row.token ?? 'base',
    `${row.gained}`,
    `${row.lost}`,
    `${row.balance ?? ''}`,
    `${row.manaGained}`,
    `${row.manaLost}`,
    row.counterparties.join(' '),
    `${row.counterpartyCount}`,
    row.state,
  ]
}

const header =
  'time,milestone,transactionId,token,in,out,balance,manaIn,manaOut,counterparties,counterpartyCount,state,cursor'

describe('the history of an address as a file', () => {
  test('has the rows of the model, as CSV', async () => {
    const { response, text } = await load('')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${bech32}.csv"`,
      'cache-control': 'no-store',
      'x-kept-from-milestone': '0',
      'x-content-type-options': 'nosniff',
    })
    const [names, ...rows] = cellsOf(text)
    expect(names?.join(',')).toBe(header)
    const expected = historyOf(ledger, parameters, someone as Hex)
    expect(expected.length).toBeGreaterThan(30)
    expect(rows.map((cells) => cells.slice(0, -1))).toEqual(expected.map(expectedCells))
  })

  test('has the same rows as NDJSON', async () => {
    const { response, text } = await load('?format=ndjson')
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain(`${bech32}.ndjson`)
    const rows = text.trimEnd().split('\n')
    const cells = rows.map((line) => {
      const row = JSON.parse(line)
      expect(Object.keys(row).sort()).toEqual(header.split(',').sort())
      const { cursor: _, ...rest } = row
      return header
        .split(',')
        .slice(0, -1)
        .map((name) => {
          const value = rest[name]
          return Array.isArray(value) ? value.join(' ') : `${value ?? ''}`
        })
    })
    expect(cells).toEqual(historyOf(ledger, parameters, someone as Hex).map(expectedCells))
  })

  test('continues after an interrupted download', async () => {
    const { text } = await load('')
    for (const length of [200, 3_000, 6_001]) {
      const whole = text.slice(0, text.lastIndexOf('\r\n', length) + 2)
      const cursor = cellsOf(whole).at(-1)?.at(-1)
      const rest = await load(cursor === 'cursor' ? '' : `?cursor=${cursor}`)
      expect(rest.response.headers.get('content-type')).toMatch(
        cursor === 'cursor' ? 'header=present' : 'header=absent',
      )
      expect(cursor === 'cursor' ? rest.text : whole + rest.text).toBe(text)
    }
  })

  test('has the requested days', async () => {
    const { text } = await load('')
    const rows = cellsOf(text).slice(1)
    const [from, to] = ['2023-11-14T22:15:00Z', '2023-11-14T23:20:00.5%2B01:00']
    const within = rows.filter(([time = '']) => time >= from && time <= '2023-11-14T22:20:00Z')
    expect(within.length).toBeGreaterThan(0)
    expect(cellsOf((await load(`?from=${from}&to=${to}`)).text).slice(1)).toEqual(within)
    expect(cellsOf((await load('?from=2023-11-14&to=2023-11-15')).text).slice(1)).toEqual(rows)
    expect((await load('?from=2024-11-15')).text).toBe(`${header}\r\n`)
  })

  test.each([
    ['?format=xml', 400, 'format'],
    ['?from=yesterday', 400, 'from'],
    ['?to=2023-99-99', 400, 'to'],
    ['?to=2023-02-29', 400, 'to'],
    ['?to=2023-04-31T00:00:00Z', 400, 'to'],
    ['?from=2023-11-14T24:00:00Z', 400, 'from'],
    ['?from=2023-11-15&to=2023-11-14', 400, 'to must not be before from'],
    ['?cursor=x', 400, 'cursor'],
    ['?page=1', 400, 'page'],
  ])('is refused with %s', async (query, status, expected) => {
    const { response, text } = await load(query)
    expect([response.status, JSON.parse(text).error.message]).toEqual([
      status,
      expect.stringContaining(expected),
    ])
  })

  test('has no body for HEAD, and counts as a subscriber only while it is sent', async () => {
    for (let n = 0; n < 3; n++) {
      const response = await rest(`${doors.url}${path}`, { method: 'HEAD' })
      expect([response.status, await response.text()]).toEqual([200, ''])
    }
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const first = await startDownload()
    expect(first.statusCode).toBe(200)
    const second = await load('')
    expect(second.response.status).toBe(503)
    first.destroy()
    open()
    gate = undefined
    await until(async () => (await load('')).response.status === 200)
  })

  test('is cut off, and the error is logged, when a read of the log fails', async () => {
    let fail = (_: Error) => {}
    gate = new Promise((_, reject) => {
      fail = reject
    })
    // The promise may be rejected before a read waits for it.
    gate.catch(() => {})
    const response = await startDownload()
    fail(new Error('the log is gone'))
    await expect(text(response)).rejects.toThrow('aborted')
    gate = undefined
    expect(doors.logged.some((line) => line.includes('the log is gone'))).toBe(true)
  })

  test('is paid for by its length', async () => {
    const costPerSecond = 16
    const client = { ...defaultLimits.client, costPerSecond }
    const own = await startTransports(services, { ...defaultLimits, client })
    const begun = performance.now()
    const first = await rest(`${own.url}${path}`)
    const { length } = await first.text()
    const second = await rest(`${own.url}/unknown`)
    const [before = 0, after = 0] = [first, second].map(({ headers }) =>
      Number(/;r=(-?[0-9]+)/.exec(headers.get('ratelimit') ?? '')?.[1]),
    )
    const refilled = (costPerSecond * (performance.now() - begun)) / 1_000
    expect(before - after + refilled).toBeGreaterThan(requestCost + length / bytesOfUnit - 1)
    await own.close()
  })

  test('is refused for a text that is not an address', async () => {
    const other = await rest(`${doors.url}/api/gateway/v1/addresses/nobody/history`)
    expect(other.status).toBe(400)
  })
})

test('cells are never formulas, and are quoted where necessary', () => {
  const rows = [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    ['\tx', "'\tx"],
    ['a,b', '"a,b"'],
    ['=a"b', '"\'=a""b"'],
    ['plain', 'plain'],
    ['', ''],
  ] as const
  for (const [value, cell] of rows) expect(csvCell(value)).toBe(cell)
})

test('a stream produces no more than its client reads, and ends when the client disconnects', async () => {
  let produced = 0
  let ends = 0
  async function* endless() {
    try {
      for (;;) {
        produced++
        yield 'x'.repeat(64 * 1_024)
      }
    } finally {
      ends++
    }
  }
  const server = createServer((_request, response) => {
    const { signal } = new AbortController()
    const stream = { pieces: endless(), signal, over: () => void ends++ }
    send(response, { status: 200, headers: {}, stream })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const [response]: IncomingMessage[] = await once(get({ port, host: '127.0.0.1' }), 'response')
  let before = -1
  // First the buffers of both ends fill.
  await until(async () => {
    const still = produced === before && produced > 1
    before = produced
    await new Promise((resolve) => setTimeout(resolve, 100))
    return still && produced === before
  })
  expect(produced).toBeLessThan(500)
  response?.destroy()
  await until(() => ends === 2)
  server.close()
})
