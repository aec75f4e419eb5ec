import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connecting, type FeedView, watchFeed } from '../../src/client/feed-view.ts'
import { until } from '../support/until.ts'

/** The view of a feed, with a server that sends what the test writes. */

const streams: ServerResponse[] = []
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  streams.push(response)
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => void streams.splice(0))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const opened = { __typename: 'FeedOpened', cursor: 'a', mode: 'LIVE', start: [] }

async function send(connection: number, event: object | undefined): Promise<void> {
  await until(() => streams.length > connection)
  streams[connection]?.write(`event: next\ndata: ${JSON.stringify({ data: { event } })}\n\n`)
}

/** Follows the server, and stores the view. */
function watch(onDisconnected = () => {}) {
  const controller = new AbortController()
  const own = { view: connecting as FeedView, stop: () => controller.abort() }
  const options = { url, after: 'a', keep: 1, longestPauseMs: 5, signal: controller.signal }
  const over = watchFeed({ ...options, onDisconnected }, (next) => {
    own.view = next(own.view)
  })
  return { own, over }
}

test('a view is connecting while there is no connection', async () => {
  let disconnections = 0
  const { own, over } = watch(() => disconnections++)
  await send(0, opened)
  await until(() => own.view.state === 'LIVE')
  streams[0]?.destroy()
  await until(() => own.view.state === 'CONNECTING')
  expect([own.view.cursor, disconnections]).toEqual(['a', 1])
  await send(1, opened)
  await until(() => own.view.state === 'LIVE')
  own.stop()
  await over
})

test('a view is catching up after the notice to a slow subscriber, until it is live again (7)', async () => {
  const { own, over } = watch()
  await send(0, opened)
  await until(() => own.view.state === 'LIVE')
  await send(0, { __typename: 'FeedNotice', topic: 'CATCHING_UP', cursor: 'a' })
  await until(() => own.view.state === 'CATCHING_UP')
  await send(0, { __typename: 'FeedProgress', previousCursor: 'a', cursor: 'b', mode: 'LIVE' })
  await until(() => own.view.state === 'LIVE')
  own.stop()
  await over
})

test('a view stays as it is after an event of a kind that the client does not know (6)', async () => {
  const { own, over } = watch()
  await send(0, opened)
  await send(0, { __typename: 'FeedOfTheFuture' })
  await send(0, { __typename: 'FeedProgress', previousCursor: 'a', cursor: 'b', mode: 'LIVE' })
  await until(() => own.view.cursor === 'b')
  expect(own.view.state).toBe('LIVE')
  own.stop()
  await over
})

test('a view ends, and nothing rejects, when a function of the options throws or the server is no gateway', async () => {
  const failing = watch(() => {
    throw new Error('not handled')
  })
  await send(0, opened)
  streams[0]?.destroy()
  await failing.over
  const odd = watch()
  await send(1, undefined)
  await odd.over
  for (const { own } of [failing, odd]) {
    expect(own.view).toMatchObject({ state: 'ENDED', ended: { code: 'CLIENT_FAILED' } })
  }
})
