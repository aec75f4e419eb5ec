import { WebSocket } from 'ws'
import type { FeedEvent, FeedUpdate, UpdateClass } from '../../src/client/events.ts'
import { feedDocumentWith } from '../../src/client/events.ts'
import { follow } from '../../src/client/follow.ts'
import type { Random } from '../support/random.ts'

/** Subscribes with each transport of the feed. Each yields steps from a cursor on, until its caller stops or the connection is lost. */

/** The subject of a subscription, and the cursor to start after. */
export interface TransportOptions {
  readonly url: string
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  readonly after: string | undefined
  readonly random: Random
  readonly signal: AbortSignal
}

/** A part of the feed: its first cursor, its last cursor, and the updates between them. */
export interface Step {
  /** `undefined` if the transport does not report it. */
  readonly previousCursor: string | undefined
  readonly cursor: string
  readonly updates: readonly FeedUpdate[]
  /** Whether the step opens the feed. */
  readonly isOpening: boolean
}

export type TransportName = 'websocket' | 'events' | 'poll' | 'connection' | 'client'

/** The function of each transport. */
export const transports: Readonly<
  Record<TransportName, (options: TransportOptions) => AsyncIterable<Step>>
> = {
  websocket: byWebSocket,
  events: byEvents,
  poll: byPolling,
  connection: byConnection,
  client: byClient,
}

/** Whether a transport supports a subscription: `connection` requires a cursor, one address and one class. */
export function isUsable(
  name: TransportName,
  { addresses, classes, after }: TransportOptions,
): boolean {
  if (name === 'connection') {
    return addresses?.length === 1 && classes.length === 1 && after !== undefined
  }
  return true
}

async function* byWebSocket(options: TransportOptions): AsyncGenerator<Step, void, undefined> {
  const socket = new WebSocket(
    `${options.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  const queue: string[] = []
  let isEnded = false
  let wake = () => {}
  const ring = () => wake()
  const end = () => {
    isEnded = true
    ring()
  }
  options.signal.addEventListener('abort', end)
  socket.on('error', end)
  socket.on('close', end)
  socket.on('open', () => socket.send('{"type":"connection_init"}'))
  socket.on('message', (bytes) => {
    queue.push(String(bytes))
    // Stops reading the socket, so that the gateway notices a slow subscriber.
    if (queue.length > 3) socket.pause()
    ring()
  })
  try {
    for (;;) {
      const text = queue.shift()
      if (text === undefined) {
        if (isEnded) return
        socket.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const { type, payload } = JSON.parse(text)
      if (type === 'connection_ack') socket.send(subscription(options))
      if (type === 'next') yield* stepsOf(payload)
      if (type === 'error' || type === 'complete') return
    }
  } finally {
    options.signal.removeEventListener('abort', end)
    // Half of the clients disconnect without a close frame.
    if (options.random.between(0, 1) === 0) socket.terminate()
    else socket.close()
  }
}

function subscription(options: TransportOptions): string {
  // Two kinds of ids that programs use: with equal ids the gateway shares the bytes of a message among subscribers, with others it cannot.
  const id = options.random.between(0, 1) === 0 ? '1' : crypto.randomUUID()
  return JSON.stringify({ type: 'subscribe', id, payload: operation(options) })
}

function operation({ addresses, classes, after }: TransportOptions) {
  const variables = { addresses, classes, after, snapshot: false }
  return { query: feedDocumentWith(''), variables }
}

interface FeedResult {
  readonly data?: { readonly event?: FeedEvent } | null
  readonly errors?: readonly { readonly message: string }[]
}

function* stepsOf({ data, errors }: FeedResult): Generator<Step, void, undefined> {
  const [error] = errors ?? []
  if (error !== undefined) throw new Error(error.message)
  const event = data?.event
  switch (event?.__typename) {
    case 'FeedOpened':
      yield { previousCursor: undefined, cursor: event.cursor, updates: [], isOpening: true }
      break
    case 'FeedProgress':
      yield { ...event, updates: [], isOpening: false }
      break
    case 'LedgerUpdateBatch':
      yield { ...event, isOpening: false }
      break
    case 'FeedReset':
      throw new Error(`the feed was reset: ${event.reason}`)
    default:
  }
}

async function* byEvents(options: TransportOptions): AsyncGenerator<Step, void, undefined> {
  const { url, signal, after } = options
  const cut = new AbortController()
  const abort = () => cut.abort()
  signal.addEventListener('abort', abort)
  const { query, variables } = operation({ ...options, after: undefined })
  const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  try {
    const response = await fetch(`${url}/graphql?${parameters}`, {
      headers: { accept: 'text/event-stream', ...(after && { 'last-event-id': after }) },
      signal: cut.signal,
    })
    if (response.status !== 200 || response.body === null) throw new Error(await response.text())
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const id = lines.find((line) => line.startsWith('id: '))?.slice(4)
        const data = lines.find((line) => line.startsWith('data: {'))?.slice(6)
        for (const step of data === undefined ? [] : stepsOf(JSON.parse(data))) {
          // A browser reconnects with the id of its last event, which must be the cursor.
          if (id !== step.cursor) throw new Error(`event ${id} with cursor ${step.cursor}`)
          yield step
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', abort)
    cut.abort()
  }
}

async function* byPolling(options: TransportOptions): AsyncGenerator<Step, void, undefined> {
  const { url, addresses, classes, random, signal } = options
  let { after } = options
  while (!signal.aborted) {
    const parameters = new URLSearchParams({
      class: classes.join(','),
      limit: String(random.between(1, 60)),
      wait: String(random.between(0, 2)),
      ...(addresses && { address: addresses.join(',') }),
      ...(after !== undefined && { after }),
    })
    const response = await fetch(`${url}/feed/updates?${parameters}`, { signal })
    if (response.status !== 200) throw new Error(await response.text())
    const page: Omit<Step, 'isOpening'> = JSON.parse(await response.text(), numbersAsText)
    yield { ...page, isOpening: after === undefined && page.updates.length === 0 }
    after = page.cursor
  }
}

/** Converts ordinals to text: long polls return them as numbers, the other transports as text. */
function numbersAsText(key: string, value: unknown): unknown {
  return key === 'ordinal' ? String(value) : value
}

const connectionDocument = /* GraphQL */ `
  query ($address: String!, $after: String, $first: Int, $class: UpdateClass!) {
    ledgerUpdates(address: $address, after: $after, first: $first, class: $class, sort: OLDEST) {
      nodes { cursor ordinal address class roles outputId isSpent milestoneIndex milestoneTimestamp historyHash }
    }
  }
`

/** Reads one to four pages of the connection, which has the same cursors as the feed. */
async function* byConnection(options: TransportOptions): AsyncGenerator<Step, void, undefined> {
  const { url, addresses, classes, random, signal } = options
  let { after } = options
  for (let pages = random.between(1, 4); pages > 0 && !signal.aborted; pages--) {
    const variables = {
      address: addresses?.[0],
      after,
      first: random.between(1, 60),
      class: classes[0],
    }
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: connectionDocument, variables }),
      signal,
    })
    const { data, errors } = JSON.parse(await response.text())
    if (errors !== undefined) throw new Error(errors[0].message)
    const updates: readonly FeedUpdate[] = data.ledgerUpdates.nodes
    const cursor = updates.at(-1)?.cursor
    if (cursor === undefined) return
    yield { previousCursor: after, cursor, updates, isOpening: false }
    after = cursor
  }
}

/** Uses the client library of the product, which reconnects by itself, also while the gateway is killed. */
async function* byClient({ url, addresses, classes, after, signal }: TransportOptions) {
  const start = after === undefined ? {} : { after }
  const filter = addresses === undefined ? {} : { addresses }
  for await (const event of follow({
    url,
    classes,
    signal,
    longestPauseMs: 500,
    ...start,
    ...filter,
  })) {
    if (event.__typename === 'FeedEnded') throw new Error(`${event.code}: ${event.message}`)
    // Each reconnect repeats `FeedOpened`, with the cursor that the client has reached.
    if (event.__typename !== 'FeedOpened' || after === undefined) {
      yield* stepsOf({ data: { event } })
    }
    after = 'opened'
  }
}
