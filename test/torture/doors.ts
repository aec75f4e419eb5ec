import { WebSocket } from 'ws'
import type { FeedEvent, FeedUpdate, UpdateClass } from '../../src/client/events.ts'
import { feedDocument } from '../../src/client/events.ts'
import { follow } from '../../src/client/follow.ts'
import type { Random } from '../support/random.ts'

/** The ways to listen. Each begins behind a cursor and tells steps, until it is left or the line breaks. */

/** What to listen to, and from where on. */
export interface Listening {
  readonly url: string
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  readonly after: string | undefined
  readonly random: Random
  readonly signal: AbortSignal
}

/** Something told: where it begins, where it ends, and what lies between. */
export interface Step {
  /** `undefined` where the door does not say. */
  readonly previousCursor: string | undefined
  readonly cursor: string
  readonly updates: readonly FeedUpdate[]
  /** Whether this is where the feed begins. */
  readonly isOpening: boolean
}

/** The names of the doors. */
export type DoorName = 'websocket' | 'events' | 'poll' | 'connection' | 'client'

/** Each door. */
export const doors: Readonly<Record<DoorName, (listening: Listening) => AsyncIterable<Step>>> = {
  websocket: byWebSocket,
  events: byEvents,
  poll: byPolling,
  connection: byConnection,
  client: byClient,
}

/** Whether a door can be taken: some cannot be the first, and one knows single addresses only. */
export function canTake(name: DoorName, { addresses, classes, after }: Listening): boolean {
  if (name === 'connection') {
    return addresses?.length === 1 && classes.length === 1 && after !== undefined
  }
  return true
}

async function* byWebSocket(listening: Listening): AsyncGenerator<Step, void, undefined> {
  const socket = new WebSocket(
    `${listening.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  const queue: string[] = []
  let isOver = false
  let wake = () => {}
  const ring = () => wake()
  const end = () => {
    isOver = true
    ring()
  }
  listening.signal.addEventListener('abort', end)
  socket.on('error', end)
  socket.on('close', end)
  socket.on('open', () => socket.send('{"type":"connection_init"}'))
  socket.on('message', (bytes) => {
    queue.push(String(bytes))
    // What is not taken is not read: so a slow listener is slow all the way to the gateway.
    if (queue.length > 3) socket.pause()
    ring()
  })
  try {
    for (;;) {
      const text = queue.shift()
      if (text === undefined) {
        if (isOver) return
        socket.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const { type, payload } = JSON.parse(text)
      if (type === 'connection_ack') socket.send(subscription(listening))
      if (type === 'next') yield* stepsOf(payload)
      if (type === 'error' || type === 'complete') return
    }
  } finally {
    listening.signal.removeEventListener('abort', end)
    // Half of them do not say goodbye.
    if (listening.random.between(0, 1) === 0) socket.terminate()
    else socket.close()
  }
}

function subscription(listening: Listening): string {
  // Ids as programs make them, so that some share their bytes and others do not.
  const id = listening.random.between(0, 1) === 0 ? '1' : crypto.randomUUID()
  return JSON.stringify({ type: 'subscribe', id, payload: operation(listening) })
}

function operation({ addresses, classes, after }: Listening) {
  const variables = { addresses, classes, after, snapshot: false }
  return { query: feedDocument, variables }
}

interface FeedResult {
  readonly data?: { readonly event?: FeedEvent } | null
  readonly errors?: readonly { readonly message: string }[]
}

function* stepsOf({ data, errors }: FeedResult): Generator<Step, void, undefined> {
  const [refusal] = errors ?? []
  if (refusal !== undefined) throw new Error(refusal.message)
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

async function* byEvents(listening: Listening): AsyncGenerator<Step, void, undefined> {
  const { url, signal, after } = listening
  const cut = new AbortController()
  const abort = () => cut.abort()
  signal.addEventListener('abort', abort)
  const { query, variables } = operation({ ...listening, after: undefined })
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
          // What a browser would come back with is the cursor of the event.
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

async function* byPolling(listening: Listening): AsyncGenerator<Step, void, undefined> {
  const { url, addresses, classes, random, signal } = listening
  let { after } = listening
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

/** This door gives ordinals as numbers, the others as text. */
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

/** A page or some of the connection: its cursors are the same. */
async function* byConnection(listening: Listening): AsyncGenerator<Step, void, undefined> {
  const { url, addresses, classes, random, signal } = listening
  let { after } = listening
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

/** The helper of the product: it comes back by itself, also while the gateway is killed. */
async function* byClient({ url, addresses, classes, after, signal }: Listening) {
  const start = after === undefined ? {} : { after }
  const some = addresses === undefined ? {} : { addresses }
  for await (const event of follow({
    url,
    classes,
    signal,
    longestPauseMs: 500,
    ...start,
    ...some,
  })) {
    if (event.__typename === 'FeedEnded') throw new Error(`${event.code}: ${event.message}`)
    // It opens again and again, at the cursor that it has reached.
    if (event.__typename !== 'FeedOpened' || after === undefined) {
      yield* stepsOf({ data: { event } })
    }
    after = 'opened'
  }
}
