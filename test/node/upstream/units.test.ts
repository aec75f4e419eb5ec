import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { inParallel } from '../../../src/lib/in-parallel.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { err, ok } from '../../../src/lib/result.ts'
import { sendRequest } from '../../../src/node/upstream/client.ts'
import { changesOf, commitmentOf, logIdOfGateway } from '../../../src/node/upstream/node-queries.ts'
import { openNodes } from '../../../src/node/upstream/nodes.ts'
import { createRequestCoalescer } from '../../../src/node/upstream/request-coalescer.ts'
import { leastOf } from '../../support/least-of.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import { until } from '../../support/until.ts'

/** Tests the parts of upstream mode separately, on real sockets. */

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const request = { method: 'GET', path: '/x', headers: {}, timeoutMs: 5_000, limit: 1_000 } as const
const open = new AbortController().signal

describe('a single request', () => {
  test('returns status and body', async () => {
    const url = await serve((_request, response) => response.writeHead(418).end('tea'))
    const answer = await sendRequest(url, request, open)
    expect(answer).toEqual({ ok: true, value: { status: 418, body: Buffer.from('tea') } })
  })

  test('reads no more bytes than its limit, whatever length the response claims', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' })
      const more = () => response.write(Buffer.alloc(64_000), () => setImmediate(more))
      more()
    })
    expect(await reasonOf(sendRequest(url, request, open))).toContain('longer than 1000 bytes')
  })

  test('ends at its timeout, also when the response trickles', async () => {
    const url = await serve(async (_request, response) => {
      for (; !response.closed; await delay(20)) response.write(' ')
    })
    const quick = { ...request, timeoutMs: 200 }
    expect(await reasonOf(sendRequest(url, quick, open))).toContain('no answer within 200 ms')
  })

  test('gets more time for each MiB of a long response', async () => {
    const url = await serve(async (_request, response) => {
      for (let i = 0; i < 5; i++) {
        response.write(Buffer.alloc(1_048_576))
        await delay(200)
      }
      response.end()
    })
    const long = { ...request, timeoutMs: 500, limit: 2 ** 24 }
    const answer = await sendRequest(url, long, open)
    expect(answer.ok ? answer.value.body.length : answer.error).toBe(5 * 1_048_576)
  })

  test('does not follow a redirect', async () => {
    let requests = 0
    const url = await serve((_request, response) => {
      requests++
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect(await sendRequest(url, request, open)).toMatchObject({ value: { status: 302 } })
    expect(requests).toBe(1)
  })

  test('reports what is wrong with the connection', async () => {
    const url = await serve((incoming) => incoming.socket.destroy())
    expect(await reasonOf(sendRequest(url, request, open))).not.toBe('fetch failed')
    expect(await reasonOf(sendRequest('http://127.0.0.1:9', request, open))).toMatch(
      /ECONNREFUSED|bad port/,
    )
  })

  test('reads once more after a connection that ends without a response', async () => {
    let requests = 0
    const url = await serve((incoming, response) => {
      requests++
      if (requests % 2 === 1) incoming.socket.destroy()
      else response.end('tea')
    })
    expect(await sendRequest(url, request, open)).toMatchObject({ value: { status: 200 } })
    expect(requests).toBe(2)
    // The node may have received a block.
    expect(await reasonOf(sendRequest(url, { ...request, method: 'POST' }, open))).not.toBe(
      'an answer',
    )
    expect(requests).toBe(3)
  })

  test('leaves no listener on a signal that outlives it', async () => {
    const url = await serve((_request, response) => response.end())
    const { signal } = new AbortController()
    for (let i = 0; i < 5; i++) await sendRequest(url, request, signal)
    expect(listenersOf(signal)).toBe(0)
  })

  test('ends with the signal', async () => {
    const closing = new AbortController()
    const url = await serve(() => closing.abort())
    expect((await sendRequest(url, request, closing.signal)).ok).toBe(false)
    expect((await sendRequest(url, request, closing.signal)).ok).toBe(false)
  })
})

/** Counts the listeners of a signal. They are internal to Node and have no public name. */
function listenersOf(signal: AbortSignal): number {
  return Reflect.ownKeys(signal)
    .map((key) => Number(Object(Reflect.get(signal, key)).size ?? 0))
    .reduce((sum, size) => sum + size, 0)
}

async function reasonOf(answer: ReturnType<typeof sendRequest>): Promise<string> {
  const silent = await answer
  return silent.ok ? 'an answer' : silent.error.reason
}

describe('several nodes', () => {
  const logOf =
    (text: string): RequestListener =>
    (_request, response) =>
      response.writeHead(200).end(JSON.stringify({ logId: text }))
  const [one, two] = ['0x0101010101010101', '0x0202020202020202']

  test('are used in their order, and one that was unavailable is used again', async () => {
    let isAway = false
    const first = await serve((incoming, response) =>
      isAway ? incoming.socket.destroy() : logOf(one)(incoming, response),
    )
    const nodes = openNodes({ urls: [first, await serve(logOf(two))], log: silentLog })
    const load = async () => (await nodes.fetch(logIdOfGateway())) as { value: string }
    expect(await load()).toMatchObject({ value: one })
    isAway = true
    expect(await load()).toMatchObject({ value: two })
    expect(nodes.available().map(({ number: place }) => place)).toEqual([2])
    isAway = false
    await until(async () => (await load()).value === one)
    nodes.close()
  })

  test('that are unusable are avoided for longer each time', async () => {
    const nodes = openNodes({ urls: [await serve(logOf(one))], log: silentLog })
    const [node] = nodes.available()
    const restsMs: number[] = []
    for (let i = 0; i < 3; i++) {
      const before = performance.now()
      node?.backOff('of another network')
      await until(() => nodes.available().length > 0)
      restsMs.push(performance.now() - before)
      // A response does not end the back-off.
      await nodes.fetch(logIdOfGateway())
    }
    // The third is four times the first, which may end late on a busy machine.
    expect(restsMs[2]).toBeGreaterThan((restsMs[0] ?? 0) * 2)
    nodes.close()
  })

  test('that are all unavailable return an error', async () => {
    const url = await serve((incoming) => incoming.socket.destroy())
    const nodes = openNodes({ urls: [url], log: silentLog })
    expect(await nodes.fetch(logIdOfGateway())).toEqual({
      ok: false,
      error: { code: 'NODES_AWAY' },
    })
    nodes.close()
  })
})

test('a node that limits the rate of requests is asked again when it allows', async () => {
  let requests = 0
  const url = await serve((_request, response) => {
    requests++
    if (requests < 3) response.writeHead(429, { 'retry-after': '0' }).end()
    else response.writeHead(404).end('{"error":{}}')
  })
  const { log, events } = createMemoryLog()
  const nodes = openNodes({ urls: [url], log })
  const [node] = nodes.candidates()
  expect(await node?.fetchInRate(commitmentOf(1))).toEqual({ ok: true, value: undefined })
  expect(requests).toBe(3)
  expect(events().map(({ event }) => event)).toEqual(['node-limits-rate'])
  // A query of a client does not wait.
  requests = 0
  expect(await nodes.fetch(commitmentOf(1))).toMatchObject({ error: { code: 'NODES_AWAY' } })
  expect(requests).toBe(1)
  nodes.close()
})

test('a long response that cannot be read costs little more than its parsing', async () => {
  const body = Buffer.from(`{"commitmentId":"0x","junk":[${'[],'.repeat(1_000_000)}[]]}`)
  const timeOf = (work: () => void) => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  }
  const response = { status: 200, body, retryAfterSeconds: undefined }
  expect(changesOf(1).read(response)).toMatchObject({ error: { isUnreadable: true } })
  const limitMs = 4 * (await leastOf(() => timeOf(() => JSON.parse(body.toString())), 0, 3))
  const readMs = await leastOf(() => timeOf(() => changesOf(1).read(response)), limitMs)
  expect(readMs).toBeLessThan(limitMs)
})

describe('a coalesced request', () => {
  test('is sent once while it is pending and while its response is valid', async () => {
    const coalescer = createRequestCoalescer<number>(2)
    let requests = 0
    const load = async () => {
      await delay(10)
      return ++requests
    }
    const share = (key: string, ms: number) => coalescer.coalesce(key, load, () => ms)
    expect(await Promise.all([share('a', 60_000), share('a', 60_000)])).toEqual([1, 1])
    expect(await share('a', 60_000)).toBe(1)
    expect(await share('b', 1)).toBe(2)
    await delay(10)
    expect(await share('b', 1)).toBe(3)
    // The number of cached responses is limited.
    await share('c', 60_000)
    expect(await share('a', 60_000)).toBe(5)
  })

  test('keeps no response in memory that is no longer valid', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const size = () => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const coalescer = createRequestCoalescer<Uint8Array>(1_000)
    const before = size()
    const megabyte = 1_048_576
    for (let n = 0; n < 100; n++) {
      const load = async () => new Uint8Array(megabyte)
      await coalescer.coalesce(`${n}`, load, () => 1)
    }
    await until(() => size() - before < 10 * megabyte, { what: 'the responses are released' })
    // The cache is in use until here.
    await coalescer.coalesce(
      'last',
      async () => new Uint8Array(),
      () => 1,
    )
  })

  test('is sent again after a failure', async () => {
    const coalescer = createRequestCoalescer<number>(2)
    await expect(
      coalescer.coalesce(
        'a',
        () => Promise.reject(new Error('no')),
        () => 60_000,
      ),
    ).rejects.toThrow('no')
    expect(
      await coalescer.coalesce(
        'a',
        async () => 7,
        () => 0,
      ),
    ).toBe(7)
  })
})

describe('parallel work', () => {
  test('keeps the order and the limit', async () => {
    let running = 0
    let maximum = 0
    const done = await inParallel([30, 5, 20, 1], 2, async (ms) => {
      maximum = Math.max(maximum, ++running)
      await delay(ms)
      running--
      return ok(ms)
    })
    expect([done, maximum]).toEqual([ok([30, 5, 20, 1]), 2])
  })

  test('starts nothing after the first error', async () => {
    const begun: number[] = []
    const done = await inParallel([1, 2, 3, 4], 1, async (n) => {
      begun.push(n)
      return n === 2 ? err('two') : ok(n)
    })
    expect([done, begun]).toEqual([err('two'), [1, 2]])
  })
})
