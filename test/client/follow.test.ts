import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FeedEnded,
  type FeedEvent,
  type FollowOptions,
  follow,
} from '../../src/client/follow.ts'
import type { Failure } from '../../src/client/query.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, rowsOf } from '../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../support/serve-log.ts'

const [owner = '0x', other = '0x'] = addresses
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  for (let i = 0; i < 3; i++) await gateway.commit(slotOf(owner, other))
  await gateway.known()
})
afterAll(() => gateway.close())

function cursorAt(seq: number): string {
  return gateway.log.cursorAt(seq)
}

/** Reads a feed until `count` updates are received or it ends. */
async function read(options: FollowOptions, count: number): Promise<(FeedEvent | FeedEnded)[]> {
  const events: (FeedEvent | FeedEnded)[] = []
  for await (const event of follow({ longestPauseMs: 5, ...options })) {
    events.push(event)
    if (ordinalsOf(events).length >= count) break
  }
  return events
}

function ordinalsOf(events: readonly (FeedEvent | FeedEnded)[]): number[] {
  return events.flatMap((event) =>
    event.__typename === 'LedgerUpdateBatch'
      ? event.updates.map(({ ordinal }) => Number(ordinal))
      : [],
  )
}

describe('the client', () => {
  test('resumes by itself after each lost connection without a missing or repeated update (2, 3)', async () => {
    const proxy = await openCuttableProxy(gateway.url)
    const received: number[] = []
    let opened = 0
    const from = cursorAt(0)
    const feed = follow({
      url: proxy.url,
      addresses: [addressText(owner)],
      after: from,
      longestPauseMs: 5,
    })
    for await (const event of feed) {
      if (event.__typename === 'FeedOpened') opened++
      received.push(...ordinalsOf([event]))
      if (received.length >= 12) break
      if (event.__typename !== 'LedgerUpdateBatch') continue
      proxy.cut()
      if (rowsOf(gateway.log.rows, owner, 'OWNED').length < 12) await gateway.commit(slotOf(owner))
    }
    expect(received).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(opened).toBeGreaterThan(5)
    proxy.close()
  })

  test('checks the history on a page without HTTPS, where browsers have no crypto.subtle (13)', async () => {
    Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true })
    try {
      const options = { url: gateway.url, addresses: [addressText(owner)], after: cursorAt(0) }
      expect(ordinalsOf(await read(options, 3)).slice(0, 3)).toEqual([1, 2, 3])
    } finally {
      Reflect.deleteProperty(crypto, 'subtle')
    }
  })

  test('takes no history for broken when the updates before its cursor were just pruned (13, 18)', async () => {
    const own = await serveLog()
    for (let i = 0; i < 3; i++) await own.commit(slotOf(owner))
    await own.known()
    // The gateway does not know it yet, and still has the next updates in memory.
    await own.log.prune(1)
    const after = own.log.cursorAt(1)
    const events = await read({ url: own.url, addresses: [addressText(owner)], after }, 2)
    expect(events).toMatchObject([
      { __typename: 'FeedOpened', start: [] },
      { __typename: 'LedgerUpdateBatch', updates: [{ ordinal: '2' }, { ordinal: '3' }] },
    ])
    await own.close()
  })

  test('gets a reset, not a broken history, when it resumes before the gateway notices an older copy (9)', async () => {
    const own = await serveLog()
    for (let i = 0; i < 8; i++) await own.commit(slotOf(owner))
    await own.known()
    const proxy = await openCuttableProxy(own.url)
    const options = { url: proxy.url, addresses: [addressText(owner)], longestPauseMs: 5 }
    const ends: string[] = []
    let opened = 0
    for await (const event of follow({ ...options, after: own.log.cursorAt(0) })) {
      if (event.__typename === 'FeedOpened') opened++
      if (event.__typename === 'LedgerUpdateBatch' && opened === 1) {
        await own.log.rewind(5)
        await own.log.commit(slotOf(owner), slotOf(owner), slotOf(owner), slotOf(owner))
        proxy.cut()
      }
      if (event.__typename === 'FeedReset') ends.push(event.reason)
      if (event.__typename === 'FeedEnded') ends.push(event.code)
    }
    expect(ends).toEqual(['LOG_REPLACED'])
    proxy.close()
    await own.close()
  })

  test('ends with its signal', async () => {
    const controller = new AbortController()
    const events: string[] = []
    for await (const event of follow({ url: gateway.url, signal: controller.signal })) {
      events.push(event.__typename)
      controller.abort()
    }
    expect(events).toEqual(['FeedOpened'])
  })

  test('ends on return() while next() waits for an event', async () => {
    const feed = follow({ url: gateway.url })
    expect(await feed.next()).toMatchObject({ value: { __typename: 'FeedOpened' } })
    const waiting = feed.next()
    expect(await feed.return()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test('fails on throw() while next() waits for an event', async () => {
    const feed = follow({ url: gateway.url })
    await feed.next()
    const waiting = feed.next()
    const failure = new Error('of the consumer')
    await expect(feed.throw(failure)).rejects.toBe(failure)
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test('ends with its signal also while its headers never arrive', async () => {
    const controller = new AbortController()
    const headers = () => {
      setImmediate(() => controller.abort())
      return new Promise<Record<string, string>>(() => {})
    }
    const { signal } = controller
    expect(await read({ url: gateway.url, headers, signal }, 1)).toEqual([])
  })

  test('asks for headers again when they did not arrive within the time without a message', async () => {
    let asked = 0
    const headers = () =>
      ++asked < 3 ? new Promise<Record<string, string>>(() => {}) : { accept: 'text/event-stream' }
    const options = { url: gateway.url, after: cursorAt(0), headers, silenceMs: 100 }
    expect(ordinalsOf(await read(options, 1)).length).toBeGreaterThan(0)
    expect(asked).toBeGreaterThanOrEqual(3)
  })

  const refused = [
    [
      'an address of another network',
      { addresses: [addressText(owner, 'iota')] },
      'ADDRESS_OF_ANOTHER_NETWORK',
    ],
    ['a malformed cursor', { after: 'x' }, 'CURSOR_MALFORMED'],
    ['another path', { url: '/nowhere' }, 'HTTP_404'],
  ] as const
  test.each(refused)('ends without a retry for %s', async (_name, options, code) => {
    const url = 'url' in options ? `${gateway.url}${options.url}` : gateway.url
    expect(await read({ ...options, url }, 1)).toMatchObject([{ __typename: 'FeedEnded', code }])
  })

  test.each(['', 'gateway', 'ws://127.0.0.1', 'http://a:b@127.0.0.1'])(
    'ends for the invalid URL "%s"',
    async (url) => {
      expect(await read({ url }, 1)).toMatchObject([
        { __typename: 'FeedEnded', code: 'URL_MALFORMED' },
      ])
    },
  )

  test('refuses a URL object, and takes null for no cursor', async () => {
    // @ts-expect-error a program in JavaScript has no types
    expect(await read({ url: new URL(gateway.url) }, 1)).toMatchObject([{ code: 'URL_MALFORMED' }])
    // @ts-expect-error a program in JavaScript has no types
    const [first] = await read({ url: gateway.url, after: null }, 0)
    expect(first).toMatchObject({
      __typename: 'FeedOpened',
      cursor: cursorAt(gateway.log.rows.length),
    })
  })
})

describe('the client of a faulty or busy gateway', () => {
  let answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = []
  let server: Server
  let url = ''
  beforeAll(async () => {
    server = createServer((request, response) => {
      // The last response is used for all further requests.
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      answer?.(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const address = addressText(owner)
  const opened = {
    __typename: 'FeedOpened',
    cursor: 'a',
    start: [{ address, class: 'OWNED', ordinal: '0', historyHash: `0x${'00'.repeat(32)}` }],
  }

  function respondWith(...events: object[]) {
    return (_request: IncomingMessage, response: ServerResponse) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      for (const event of events) {
        response.write(`event: next\ndata: ${JSON.stringify({ data: { event } })}\n\n`)
      }
    }
  }

  function batch(updates: readonly object[], previousCursor = 'a') {
    return { __typename: 'LedgerUpdateBatch', previousCursor, cursor: 'b', updates }
  }

  /** Runs with a fixed value in place of random numbers. */
  async function withRandom(value: number, run: () => Promise<void>): Promise<void> {
    const random = Object.getOwnPropertyDescriptor(Math, 'random') ?? {}
    Object.defineProperty(Math, 'random', { value: () => value, configurable: true })
    try {
      await run()
    } finally {
      Object.defineProperty(Math, 'random', random)
    }
  }

  /** Returns the first update of the owner from the real log, with its real history hash. */
  async function realUpdate(): Promise<Record<string, unknown>> {
    const [, received] = await read(
      { url: gateway.url, addresses: [address], after: cursorAt(0) },
      1,
    )
    return received?.__typename === 'LedgerUpdateBatch' ? { ...received.updates[0] } : {}
  }

  const faults = [
    ['a missing update', (update: object) => [batch([{ ...update, ordinal: '2' }])]],
    ['a repeated update', (update: object) => [batch([update, update])]],
    ['a wrong history hash', (update: object) => [batch([{ ...update, isSpent: true }])]],
    ['a gap between two events', (update: object) => [batch([update], 'z')]],
  ] as const
  test.each(faults)('notices %s (13)', async (_name, events) => {
    answers = [respondWith(opened, ...events(await realUpdate()))]
    const received = await read({ url, addresses: [address], after: 'a' }, 10)
    expect(received.at(-1)).toMatchObject({ __typename: 'FeedEnded', code: 'HISTORY_BROKEN' })
  })

  test('notices that another gateway has another history (13)', async () => {
    const update = await realUpdate()
    const elsewhere = { ...opened, cursor: 'b', start: [{ ...opened.start[0], ordinal: '7' }] }
    answers = [
      (request, response) => {
        respondWith(opened, batch([update]))(request, response)
        response.end()
      },
      respondWith(elsewhere),
    ]
    const received = await read({ url, addresses: [address], after: 'a' }, 10)
    expect(ordinalsOf(received)).toEqual([1])
    expect(received.at(-1)).toMatchObject({ __typename: 'FeedEnded', code: 'HISTORY_BROKEN' })
  })

  test('reconnects after an error status, a lost connection or silence, with current headers', async () => {
    const update = await realUpdate()
    const tokens: unknown[] = []
    const status = (code: number) => (request: IncomingMessage, response: ServerResponse) => {
      tokens.push(request.headers.authorization)
      response.writeHead(code)
      response.end()
    }
    answers = [
      status(503),
      status(401),
      status(408),
      (request) => request.socket.destroy(),
      // Never responds.
      () => {},
      respondWith(opened, batch([update])),
    ]
    let requests = 0
    const headers = () => ({ authorization: `token ${requests++}` })
    const received = await read(
      { url, addresses: [address], after: 'a', headers, silenceMs: 200 },
      1,
    )
    expect(ordinalsOf(received)).toEqual([1])
    expect(tokens).toEqual(['token 0', 'token 1', 'token 2'])
    expect(requests).toBe(6)
  })

  test('keeps a connection that sends only comments for longer than the time of silence', async () => {
    let requests = 0
    answers = [
      (request, response) => {
        requests++
        respondWith()(request, response)
        const comments = setInterval(() => response.write(':\n\n'), 50)
        setTimeout(() => {
          clearInterval(comments)
          respondWith(opened)(request, response)
        }, 1_000)
      },
    ]
    const [first] = await read({ url, addresses: [address], after: 'a', silenceMs: 500 }, 0)
    expect([first?.__typename, requests]).toEqual(['FeedOpened', 1])
  })

  test('takes the time that its consumer needs for no silence', async () => {
    const silenceMs = 500
    const { promise: responding, resolve: respond } = Promise.withResolvers<() => void>()
    let requests = 0
    answers = [
      (request, response) => {
        requests++
        respondWith(opened)(request, response)
        const progress = { __typename: 'FeedProgress', previousCursor: 'a', cursor: 'b' }
        respond(() => respondWith(progress)(request, response))
      },
    ]
    const feed = follow({ url, addresses: [address], after: 'a', silenceMs })
    await feed.next()
    await delay(2 * silenceMs)
    const send = await responding
    send()
    expect([(await feed.next()).value?.__typename, requests]).toEqual(['FeedProgress', 1])
    await feed.return()
  })

  test('keeps a silent connection if the time of silence is Infinity', async () => {
    let requests = 0
    answers = [
      (request, response) => {
        requests++
        respondWith()(request, response)
        setTimeout(() => respondWith(opened)(request, response), 100)
      },
    ]
    const [first] = await read({ url, addresses: [address], after: 'a', silenceMs: Infinity }, 0)
    expect([first?.__typename, requests]).toEqual(['FeedOpened', 1])
  })

  test('doubles its pause until a connection brings an update', async () => {
    const moments: number[] = []
    const cutAfter =
      (...events: object[]) =>
      (request: IncomingMessage, response: ServerResponse) => {
        moments.push(performance.now())
        respondWith(...events)(request, response)
        response.end()
      }
    const progress = { __typename: 'FeedProgress', previousCursor: 'a', cursor: 'a' }
    const update = await realUpdate()
    answers = [
      cutAfter(opened),
      cutAfter(opened, progress),
      cutAfter(opened),
      cutAfter(opened, batch([update])),
      cutAfter({ ...opened, cursor: 'b', start: [] }),
    ]
    // The longest of the possible pauses.
    await withRandom(1, async () => {
      const options = { url, addresses: [address], after: 'a', longestPauseMs: 10_000 }
      for await (const _ of follow(options)) if (moments.length === 5) break
    })
    const pauses = moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0))
    expect(pauses[1]).toBeGreaterThanOrEqual(490)
    expect(pauses[2]).toBeGreaterThanOrEqual(990)
    // The next one would be two seconds.
    expect(pauses[3]).toBeLessThan(1_900)
  })

  test('pauses no longer than the caller allows, also before the first new connection', async () => {
    answers = [
      (request) => request.socket.destroy(),
      (request) => request.socket.destroy(),
      respondWith(opened),
    ]
    // A thousand times the longest of the possible pauses.
    await withRandom(1_000, async () => {
      const [first] = await read({ url, after: 'a', longestPauseMs: 1 }, 0)
      expect(first).toMatchObject({ __typename: 'FeedOpened' })
    })
  })

  test('says why it is disconnected', async () => {
    const codes: string[] = []
    const headers = () => {
      if (codes.length === 0) throw new Error('no token')
      return codes.length === 1 ? { authorization: 'line\nbreak' } : {}
    }
    const body = JSON.stringify({ errors: [{ extensions: { code: 'GATEWAY_DRAINING' } }] })
    answers = [
      (_request, response) => void response.writeHead(503).end(body),
      (_request, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'),
      (request) => request.socket.destroy(),
      respondWith(opened),
    ]
    const onDisconnected = ({ code }: Failure) => codes.push(code)
    const [first] = await read({ url, after: 'a', headers, onDisconnected }, 0)
    expect(first).toMatchObject({ __typename: 'FeedOpened' })
    expect(codes).toEqual([
      'HEADERS_FAILED',
      'HEADERS_FAILED',
      'GATEWAY_DRAINING',
      'HTTP_502',
      'OFFLINE',
    ])
  })

  test('waits for the time in Retry-After, in seconds or as a date', async () => {
    const moments: number[] = []
    const away =
      (retryAfter: () => string) => (_request: IncomingMessage, response: ServerResponse) => {
        moments.push(performance.now())
        response.writeHead(503, { 'retry-after': retryAfter() }).end()
      }
    const back = (request: IncomingMessage, response: ServerResponse) => {
      moments.push(performance.now())
      respondWith(opened, batch([]))(request, response)
    }
    // A date has whole seconds, so this one is at least one second away.
    const date = () => new Date(Date.now() + 2_000).toUTCString()
    answers = [away(() => '1'), away(date), away(() => 'soon'), back]
    // Nothing is added to the requested time.
    await withRandom(0, async () => {
      const [first] = await read({ url, addresses: [address], after: 'a' }, 0)
      expect(first).toMatchObject({ __typename: 'FeedOpened' })
    })
    const pauses = moments.slice(1).map((moment, i) => Math.round(moment - (moments[i] ?? 0)))
    expect(pauses[0]).toBeGreaterThanOrEqual(990)
    expect(pauses[1]).toBeGreaterThanOrEqual(990)
    expect(pauses[2]).toBeLessThan(990)
  })

  test('does not retry at once if Retry-After exceeds the range of a timer', async () => {
    const controller = new AbortController()
    let requests = 0
    answers = Array.from(
      { length: 3 },
      () => (_request: IncomingMessage, response: ServerResponse) => {
        requests++
        response.writeHead(503, { 'retry-after': '9999999999' }).end(() => {
          setTimeout(() => controller.abort(), 200)
        })
      },
    )
    for await (const _ of follow({ url, longestPauseMs: 5, signal: controller.signal })) break
    expect(requests).toBe(1)
  })

  test('ends with its signal also while events that arrived together are left', async () => {
    const progress = { __typename: 'FeedProgress', previousCursor: 'a', cursor: 'b' }
    answers = [respondWith(opened, progress)]
    const controller = new AbortController()
    const events: string[] = []
    for await (const event of follow({ url, after: 'a', signal: controller.signal })) {
      events.push(event.__typename)
      controller.abort()
    }
    expect(events).toEqual(['FeedOpened'])
  })

  test('ends when the answer is a page instead of an event stream', async () => {
    answers = [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')
      },
    ]
    expect(await read({ url }, 1)).toMatchObject([
      { __typename: 'FeedEnded', code: 'HTTP_200', message: '<h1>Welcome</h1>' },
    ])
  })

  test('ends after a reset', async () => {
    answers = [respondWith(opened, { __typename: 'FeedReset', reason: 'LOG_PRUNED' })]
    const received = await read({ url, addresses: [address], after: 'a' }, 1)
    expect(received.at(-1)).toMatchObject({ __typename: 'FeedReset', reason: 'LOG_PRUNED' })
  })
})
