import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attack,
  concurrently,
  graphqlRequest,
  nextText,
  openEventStream,
  openGraphqlSocket,
  openSocket,
  scaled,
  sendBySocket,
  sendUnread,
  type Target,
} from './target.ts'

/** Attacks with slow, silent or many connections, and with clients that never read. */

/** Returns the states of sockets after 200 ms. */
async function statesOf(
  sockets: readonly ({ readonly destroyed: boolean } | undefined)[],
): Promise<readonly string[]> {
  await delay(200)
  return sockets.map((socket) =>
    socket === undefined ? 'refused' : socket.destroyed ? 'cut' : 'open',
  )
}

/** Returns a cursor behind which nearly all updates are. */
async function oldestCursor({ url, client }: Target): Promise<string> {
  const query = '{ ledgerUpdates(last: 1) { pageInfo { startCursor } } }'
  const { text } = await client.ask(`${url}/graphql?${new URLSearchParams({ query })}`)
  return /"startCursor":"([^"]+)"/.exec(text)?.[1] ?? ''
}

export const connectionAttacks: readonly Attack[] = [
  {
    name: 'large pages that are never read',
    expected: ['open'],
    round: async (target) => {
      const page = 'GET /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n'
      return statesOf(await concurrently(scaled(target, 800), () => sendUnread(target, page)))
    },
  },
  {
    name: 'heads that come byte by byte',
    expected: ['open'],
    round: async (target) => {
      const sockets = await concurrently(scaled(target, 400), () =>
        sendUnread(target, 'GET / HTTP/1.1\r\n'),
      )
      for (let i = 0; i < 10; i++) {
        for (const socket of sockets) socket?.write(`X-${i}: y\r\n`)
        await delay(20)
      }
      return statesOf(sockets)
    },
  },
  {
    name: 'bodies that do not come',
    expected: ['open'],
    round: async (target) => {
      const head = `${graphqlRequest('{ __typename }').split('\r\n\r\n')[0]}0\r\n\r\n{`
      return statesOf(await concurrently(scaled(target, 400), () => sendUnread(target, head)))
    },
  },
  {
    name: 'bodies in chunks of one byte that do not end',
    expected: ['open', 'cut'],
    round: async (target) => {
      const lines = ['POST /api/core/v3/blocks HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked']
      const head = [...lines, 'Content-Type: application/json', '', ''].join('\r\n')
      const body = '1\r\nx\r\n'.repeat(900_000)
      return statesOf(await concurrently(scaled(target, 10), () => sendUnread(target, head + body)))
    },
  },
  {
    name: 'requests in one pipe',
    expected: ['open', 'cut'],
    round: async (target) => {
      const requests = graphqlRequest('{ milestone { index } }').repeat(2_000)
      return statesOf(await concurrently(scaled(target, 10), () => sendUnread(target, requests)))
    },
  },
  {
    name: 'pages and queries in one pipe behind a long poll',
    expected: ['open'],
    round: async (target) => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
      const page = `/feed/updates?limit=1000&after=${await oldestCursor(target)}`
      const queries = Array.from({ length: 120 }, (_, i) =>
        get(`/graphql?query={a${i}:__typename}`),
      )
      const poll = get('/feed/updates?wait=60')
      const sockets = await concurrently(scaled(target, 380), (i) =>
        sendUnread(target, poll + (i % 2 === 0 ? get(page).repeat(60) : queries.join(''))),
      )
      return statesOf(sockets)
    },
  },
  {
    name: 'heads that are no HTTP',
    expected: ['cut', 'open'],
    round: async (target) => {
      const texts = [
        `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
        `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(20_000)}\r\n`,
        'POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        `${'\0'.repeat(10_000)}`,
        'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ]
      const sockets = await concurrently(scaled(target, 60), (i) =>
        sendUnread(target, texts[i % texts.length] ?? ''),
      )
      return statesOf(sockets)
    },
  },
  {
    name: 'sockets that say nothing',
    expected: ['open'],
    round: async (target) => {
      const sockets = await concurrently(scaled(target, 700), () => openSocket(target))
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'open'))
    },
  },
  {
    name: 'pings of a megabyte, unread',
    expected: ['open'],
    round: async (target) => {
      const sockets = await concurrently(scaled(target, 10), () => openGraphqlSocket(target))
      const ping = JSON.stringify({ type: 'ping', payload: { filling: 'x'.repeat(900_000) } })
      for (const socket of sockets) {
        socket?.pause()
        for (let i = 0; i < scaled(target, 30); i++) socket?.send(ping)
        for (let i = 0; i < scaled(target, 2_000); i++) socket?.ping('x'.repeat(125))
      }
      await delay(200)
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'open'))
    },
  },
  {
    name: 'frames that are too long, or none',
    expected: ['closed 1009 ', 'closed 4400 Invalid message received'],
    round: async (target) => {
      const texts = ['x'.repeat(3_000_000), '{', '[]', `{"type":"${'x'.repeat(1_000)}"}`]
      return concurrently(scaled(target, 20), async (i) => {
        const socket = await openSocket(target)
        if (socket === undefined) return 'refused'
        const answer = nextText(socket)
        socket.send(texts[i % texts.length] ?? '')
        return answer
      })
    },
  },
  {
    name: 'thousands of queries on a socket, unread',
    expected: ['open'],
    round: async (target) => {
      const query = '{ ledgerUpdates(first: 1000) { nodes { outputId address } } }'
      const sockets = await concurrently(scaled(target, 10), async () => {
        const socket = await openGraphqlSocket(target)
        socket?.pause()
        for (let i = 0; i < scaled(target, 500); i++) {
          socket?.send(JSON.stringify({ type: 'subscribe', id: `${i}`, payload: { query } }))
        }
        return socket
      })
      await delay(200)
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'open'))
    },
  },
  {
    name: 'subscriptions without end',
    expected: ['SUBSCRIPTION_LIMIT', 'ok'],
    round: async (target) => {
      const socket = await openGraphqlSocket(target)
      return concurrently(scaled(target, 150), (i) =>
        sendBySocket(socket, `e${i}`, 'subscription { ledgerUpdates { __typename } }'),
      )
    },
  },
  {
    name: 'event streams by the hundred',
    expected: ['ok'],
    round: (target) =>
      concurrently(scaled(target, 700), () =>
        openEventStream(target, 'subscription { ledgerUpdates { __typename } }'),
      ),
  },
]
