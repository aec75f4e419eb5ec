import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../src/feed/cursor.ts'
import { noBranch } from '../../../src/store/values.ts'
import { ownClient } from '../../attack/from-address.ts'
import { slotOf } from '../../support/feed-log.ts'
import { addresses, rowsOf } from '../../support/log-store.ts'
import { rest } from '../../support/rest.ts'
import { addressText, type ServedLog, serveLog } from '../../support/serve-log.ts'
import { until } from '../../support/until.ts'

const [owner = '0x', other = '0x', quiet = '0x'] = addresses
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  for (let i = 0; i < 5; i++) await gateway.commit(slotOf(owner, other))
  await gateway.known()
})
afterAll(() => gateway.close())

function cursorAt(seq: number): string {
  return gateway.log.cursorAt(seq)
}

async function poll(parameters: Record<string, string>, url = gateway.url) {
  const response = await rest(`${url}/feed/updates?${new URLSearchParams(parameters)}`)
  const { status, headers } = response
  // biome-ignore lint/suspicious/noExplicitAny: the assertions check its shape
  const page: any = await response.json()
  return { status, cache: headers.get('cache-control'), retry: headers.get('retry-after'), page }
}

describe('GET /feed/updates (11)', () => {
  test('read from the beginning, returns every update once, and full pages may be cached', async () => {
    const address = `${addressText(owner)},${addressText(other)}`
    const outputIds: string[] = []
    let after = cursorAt(0)
    for (let isFull = true; isFull; ) {
      const { status, cache, page } = await poll({ address, after, limit: '3' })
      expect(status).toBe(200)
      expect(page.previousCursor).toBe(after)
      isFull = page.isFull
      expect(cache).toBe(isFull ? 'public, no-cache' : 'no-store')
      outputIds.push(...page.updates.map((update: { outputId: string }) => update.outputId))
      after = page.cursor
    }
    expect(outputIds).toEqual(gateway.log.rows.map(({ outputId }) => outputId))
    expect(after).toBe(cursorAt(gateway.log.rows.length))
  })

  test('requested again, returns the same full page, whatever was committed since', async () => {
    const query = { address: addressText(owner), after: cursorAt(1), limit: '2' }
    const { page } = await poll(query)
    await gateway.commit(slotOf(owner))
    await gateway.known()
    expect((await poll(query)).page).toEqual(page)
  })

  test('revalidates a cached page by its tag, and not after a change of history (5)', async () => {
    const copy = await serveLog({ settings: { ringRows: 2 } })
    for (let i = 0; i < 6; i++) await copy.commit(slotOf(owner))
    await copy.known()
    const { log } = copy
    const query = { after: log.cursorAt(2), limit: '3' }
    const url = `${copy.url}/feed/updates?${new URLSearchParams(query)}`
    const first = await rest(url)
    const former = await first.json()
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await rest(url, { headers })).status).toBe(304)
    const { era } = copy.feed.tail.tip()
    await log.rewind(3)
    for (let i = 0; i < 6; i++) await copy.commit(slotOf(owner))
    await until(() => copy.feed.tail.tip().era > era && copy.feed.tail.tip().slot === log.slot())
    const again = await rest(url, { headers })
    expect(again.status).toBe(200)
    const page = await again.json()
    expect(page).toMatchObject({ previousCursor: log.cursorAt(2), cursor: log.cursorAt(5) })
    expect(page.updates.map((update: { outputId: string }) => update.outputId)).toEqual(
      log.rows.slice(2, 5).map(({ outputId }) => outputId),
    )
    expect(page.updates[0]).toEqual(former.updates[0])
    expect((await poll({ after: former.cursor }, copy.url)).status).toBe(410)
    await copy.close()
  })

  test('names the classes as it accepts them', async () => {
    const { error } = (await poll({ class: 'both' })).page
    const [, ...named] = /^query: class must be (\w+), (\w+) or (\S+)$/.exec(error.message) ?? []
    expect(named).toHaveLength(3)
    for (const one of named) expect((await poll({ class: one })).status, one).toBe(200)
  })

  test('waits for the first update', async () => {
    const watching = gateway.feed.tail.counts().watchers
    const response = poll({ address: addressText(owner), wait: '60' })
    // Without a cursor the page has only updates that follow the request.
    await until(() => gateway.feed.tail.counts().watchers > watching)
    await gateway.commit(slotOf(other), slotOf(owner))
    const { page } = await response
    const [newest] = rowsOf(gateway.log.rows, owner, 'OWNED').slice(-1)
    expect(page.updates).toMatchObject([{ ordinal: newest?.ordinal, outputId: newest?.outputId }])
  })

  test('ends the wait when the client disconnects', async () => {
    const controller = new AbortController()
    const parameters = new URLSearchParams({ address: addressText(quiet), wait: '60' })
    const response = rest(`${gateway.url}/feed/updates?${parameters}`, controller)
    await expect(async () => {
      setImmediate(() => controller.abort())
      await response
    }).rejects.toThrow()
  })

  test('watches the log no longer than it waits', async () => {
    expect((await poll({ after: cursorAt(gateway.log.rows.length), wait: '1' })).status).toBe(200)
    expect(gateway.feed.tail.counts().watchers).toBe(0)
  })

  test('ends the wait when another request waits behind it', async () => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port) })
    const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`
    const address = addressText(owner)
    const after = cursorAt(0)
    const paths = [
      `/feed/updates?${new URLSearchParams({ address, after, limit: '1', wait: '60' })}`,
      `/feed/updates?${new URLSearchParams({ address: addressText(quiet), wait: '60' })}`,
      '/health',
    ]
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.write(paths.map(get).join(''))
    await until(() => text.split('HTTP/1.1 200').length === 4, { what: 'all have responses' })
    // An update that is there already is not left out.
    expect(text.match(/"updates":\[.?/g)).toEqual(['"updates":[{', '"updates":[]'])
    socket.destroy()
  })

  test('refuses a page to a client that leaves too many bytes of others unread', async () => {
    const limits = { heldBytes: 1_500_000 }
    const served = await serveLog({ limits, settings: { ringRows: 2_000 } })
    await served.commit(slotOf(...Array(1_000).fill(owner)))
    await served.known()
    const page = `/feed/updates?${new URLSearchParams({ after: served.log.cursorAt(0), limit: '1000' })}`
    const { hostname, port } = new URL(served.url)
    const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.2' })
    // The system buffers some megabytes of them.
    socket.pause().write(`GET ${page} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100))
    const [sender, other] = [ownClient('127.0.0.2'), ownClient('127.0.0.3')]
    let refusal = ''
    await until(
      async () => {
        const { status, text } = await sender.ask(served.url + page)
        refusal = text
        return status === 503
      },
      { what: 'a page is refused' },
    )
    expect(JSON.parse(refusal).error.message).toContain('1500000 bytes of unsent responses')
    const short = page.replace('1000', '10')
    expect((await sender.ask(served.url + short)).status).toBe(200)
    expect((await other.ask(served.url + page)).status).toBe(200)
    socket.destroy()
    const isFree = async () => (await sender.ask(served.url + page)).status === 200
    await until(isFree, { what: 'the page is sent again' })
    for (const client of [sender, other]) client.close()
    await served.close()
  })

  const refused = [
    ['an address of another network', { address: addressText(owner, 'iota') }, 400],
    ['a malformed address', { address: 'x' }, 400],
    ['an empty list', { address: '' }, 400],
    ['a malformed cursor', { after: 'x' }, 400],
    [
      'a cursor of another log',
      { after: encodeCursor({ logId: '0x00000000000000ff', seq: 0, branch: noBranch }) },
      410,
    ],
    [
      'a cursor that another gateway may know already',
      { after: encodeCursor({ logId: '0x00112233445566ff', seq: 1_000_000, branch: noBranch }) },
      503,
    ],
    ['a limit of 0', { limit: '0' }, 400],
    ['a limit over 1000', { limit: '1001' }, 400],
    ['a wait over a minute', { wait: '61' }, 400],
    ['an unknown class', { class: 'OTHER' }, 400],
    ['an unknown parameter', { cursor: 'x' }, 400],
  ] as const
  test.each(refused)('refuses %s', async (_name, parameters, status) => {
    const { status: actual, page } = await poll(parameters)
    expect([actual, page.error.code]).toEqual([status, status])
  })

  test('refuses a subscriber over the limit before any work, and ends a wait when it is about to stop (8, 14)', async () => {
    const full = await serveLog({ limits: { subscriptions: 0 } })
    expect(await poll({ after: 'x' }, full.url)).toMatchObject({ status: 503, retry: '1' })
    await full.close()
    const stopping = await serveLog()
    const waiting = poll({ wait: '60' }, stopping.url)
    await until(() => stopping.feed.tail.counts().watchers === 1)
    const drained = stopping.drain(0)
    expect((await waiting).page.updates ?? []).toEqual([])
    await drained
    await stopping.close()
  })
})
