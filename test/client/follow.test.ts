import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FeedEnded,
  type FeedEvent,
  type FollowOptions,
  follow,
} from '../../src/client/follow.ts'
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

/** Reads until so many updates were told, or the end. */
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
  test('resumes by itself whenever its line is cut, and misses and repeats nothing (2, 3)', async () => {
    const way = await openCuttableProxy(gateway.url)
    const told: number[] = []
    let opened = 0
    const from = cursorAt(0)
    const feed = follow({
      url: way.url,
      addresses: [addressText(owner)],
      after: from,
      longestPauseMs: 5,
    })
    for await (const event of feed) {
      if (event.__typename === 'FeedOpened') opened++
      told.push(...ordinalsOf([event]))
      if (told.length >= 12) break
      if (event.__typename !== 'LedgerUpdateBatch') continue
      way.cut()
      if (rowsOf(gateway.log.rows, owner, 'OWNED').length < 12) await gateway.commit(slotOf(owner))
    }
    expect(told).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(opened).toBeGreaterThan(5)
    way.close()
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

  const refused = [
    [
      'an address of another network',
      { addresses: [addressText(owner, 'iota')] },
      'ADDRESS_OF_ANOTHER_NETWORK',
    ],
    ['a malformed cursor', { after: 'x' }, 'CURSOR_MALFORMED'],
    ['another path', { url: '/nowhere' }, 'HTTP_404'],
  ] as const
  test.each(refused)('ends where coming back would not help: %s', async (_name, options, code) => {
    const url = 'url' in options ? `${gateway.url}${options.url}` : gateway.url
    expect(await read({ ...options, url }, 1)).toMatchObject([{ __typename: 'FeedEnded', code }])
  })

  test.each(['', 'gateway', 'ws://127.0.0.1', 'http://a:b@127.0.0.1'])(
    'ends where no gateway can be: "%s"',
    async (url) => {
      expect(await read({ url }, 1)).toMatchObject([
        { __typename: 'FeedEnded', code: 'URL_MALFORMED' },
      ])
    },
  )
})

describe('the client against gateways that are wrong or busy', () => {
  let answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = []
  let server: Server
  let url = ''
  beforeAll(async () => {
    server = createServer((request, response) => {
      // The last answer is for ever.
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

  function tell(...events: object[]) {
    return (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) {
        response.write(`event: next\ndata: ${JSON.stringify({ data: { event } })}\n\n`)
      }
    }
  }

  function batch(updates: readonly object[], previousCursor = 'a') {
    return { __typename: 'LedgerUpdateBatch', previousCursor, cursor: 'b', updates }
  }

  /** The first update of the owner in the real log, with its real history hash. */
  async function realUpdate(): Promise<Record<string, unknown>> {
    const [, told] = await read({ url: gateway.url, addresses: [address], after: cursorAt(0) }, 1)
    return told?.__typename === 'LedgerUpdateBatch' ? { ...told.updates[0] } : {}
  }

  const faults = [
    ['a missing update', (update: object) => [batch([{ ...update, ordinal: '2' }])]],
    ['an update told twice', (update: object) => [batch([update, update])]],
    [
      'a history hash that does not follow',
      (update: object) => [batch([{ ...update, isSpent: true }])],
    ],
    ['a gap between two events', (update: object) => [batch([update], 'z')]],
  ] as const
  test.each(faults)('notices %s (13)', async (_name, events) => {
    answers = [tell(opened, ...events(await realUpdate()))]
    const told = await read({ url, addresses: [address], after: 'a' }, 10)
    expect(told.at(-1)).toMatchObject({ __typename: 'FeedEnded', code: 'HISTORY_BROKEN' })
  })

  test('notices that another gateway has another history (13)', async () => {
    const update = await realUpdate()
    const elsewhere = { ...opened, cursor: 'b', start: [{ ...opened.start[0], ordinal: '7' }] }
    answers = [
      (request, response) => {
        tell(opened, batch([update]))(request, response)
        response.end()
      },
      tell(elsewhere),
    ]
    const told = await read({ url, addresses: [address], after: 'a' }, 10)
    expect(ordinalsOf(told)).toEqual([1])
    expect(told.at(-1)).toMatchObject({ __typename: 'FeedEnded', code: 'HISTORY_BROKEN' })
  })

  test('comes back to one that is full, broken or mute, with the headers of the moment', async () => {
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
      (request) => request.socket.destroy(),
      // Says nothing for ever.
      () => {},
      tell(opened, batch([update])),
    ]
    let asked = 0
    const headers = () => ({ authorization: `token ${asked++}` })
    const told = await read({ url, addresses: [address], after: 'a', headers, silenceMs: 200 }, 1)
    expect(ordinalsOf(told)).toEqual([1])
    expect(tokens).toEqual(['token 0', 'token 1'])
    expect(asked).toBe(5)
  })

  test('waits as long as it is asked to, in seconds or to a date', async () => {
    const moments: number[] = []
    const away =
      (retryAfter: () => string) => (_request: IncomingMessage, response: ServerResponse) => {
        moments.push(performance.now())
        response.writeHead(503, { 'retry-after': retryAfter() }).end()
      }
    const back = (request: IncomingMessage, response: ServerResponse) => {
      moments.push(performance.now())
      tell(opened, batch([]))(request, response)
    }
    // A date has whole seconds: this one is at least one second away.
    const date = () => new Date(Date.now() + 2_000).toUTCString()
    answers = [away(() => '1'), away(date), away(() => 'soon'), back]
    const [first] = await read({ url, addresses: [address], after: 'a' }, 0)
    expect(first).toMatchObject({ __typename: 'FeedOpened' })
    const pauses = moments.slice(1).map((moment, i) => Math.round(moment - (moments[i] ?? 0)))
    expect(pauses[0]).toBeGreaterThanOrEqual(990)
    expect(pauses[1]).toBeGreaterThanOrEqual(990)
    expect(pauses[2]).toBeLessThan(990)
  })

  test('does not hurry because it is asked to wait for longer than a timer can', async () => {
    const controller = new AbortController()
    let asked = 0
    answers = Array.from(
      { length: 3 },
      () => (_request: IncomingMessage, response: ServerResponse) => {
        asked++
        response.writeHead(503, { 'retry-after': '9999999999' }).end(() => {
          setTimeout(() => controller.abort(), 200)
        })
      },
    )
    for await (const _ of follow({ url, longestPauseMs: 5, signal: controller.signal })) break
    expect(asked).toBe(1)
  })

  test('ends after a reset', async () => {
    answers = [tell(opened, { __typename: 'FeedReset', reason: 'LOG_PRUNED' })]
    const told = await read({ url, addresses: [address], after: 'a' }, 1)
    expect(told.at(-1)).toMatchObject({ __typename: 'FeedReset', reason: 'LOG_PRUNED' })
  })
})
