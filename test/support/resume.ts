import { feedDocumentWith } from '../../src/client/events.ts'
import { follow } from '../../src/client/follow.ts'
import { graphql, socketClient } from './client.ts'
import { openStream } from './event-stream.ts'
import { rest } from './rest.ts'

/** Resumes after a cursor by every transport that accepts one. */

/** The error code by transport; `SERVED` if there is none. */
export interface Resumed {
  readonly connectionAfter: string
  readonly connectionBefore: string
  readonly webSocket: string
  readonly events: string
  readonly lastEventId: string
  readonly poll: string
  readonly client: string
}

/** Resumes on a gateway by every transport. `address` is any address of its network. */
export async function resume(url: string, cursor: string, address: string): Promise<Resumed> {
  const byClient = byClientOf(url, cursor)
  return {
    connectionAfter: await byConnection(url, { address, after: cursor }),
    connectionBefore: await byConnection(url, { address, before: cursor }),
    webSocket: await byWebSocket(url, cursor),
    events: await byEvents(url, { after: cursor }, {}),
    lastEventId: await byEvents(url, {}, { 'last-event-id': cursor }),
    poll: await byPoll(url, cursor),
    client: await byClient,
  }
}

/** The same code by every transport, except that a feed with a cursor of another log is not rejected: it ends with a reset. */
export function everywhere(code: string): Resumed {
  const ofFeed = code === 'CURSOR_OF_ANOTHER_LOG' ? 'LOG_REPLACED' : code
  return {
    connectionAfter: code,
    connectionBefore: code,
    webSocket: ofFeed,
    events: ofFeed,
    lastEventId: ofFeed,
    poll: code,
    client: ofFeed,
  }
}

const served = 'SERVED'

interface Answer {
  readonly errors?: readonly { readonly extensions?: { readonly code?: unknown } }[]
  readonly data?: { readonly event?: { readonly reason?: unknown } } | null
}

function codeOf({ errors, data }: Answer): string {
  if (errors === undefined) return String(data?.event?.reason ?? served)
  return String(errors[0]?.extensions?.code)
}

async function byConnection(url: string, variables: object): Promise<string> {
  const query = `query ($address: String!, $after: String, $before: String) {
    ledgerUpdates(address: $address, after: $after, before: $before) { totalCount }
  }`
  return codeOf((await graphql(url, query, variables)) as Answer)
}

const wholeLedger = { classes: ['OWNED', 'MENTIONED'], snapshot: false }

async function byWebSocket(url: string, after: string): Promise<string> {
  const client = socketClient(url)
  try {
    const variables = { ...wholeLedger, after }
    const { value } = await client.iterate({ query: feedDocumentWith(''), variables }).next()
    return codeOf(value)
  } finally {
    await client.dispose()
  }
}

async function byEvents(
  url: string,
  variables: object,
  headers: Record<string, string>,
): Promise<string> {
  const parameters = new URLSearchParams({
    query: feedDocumentWith(''),
    variables: JSON.stringify({ ...wholeLedger, ...variables }),
  })
  const stream = await openStream(`${url}/graphql?${parameters}`, { headers })
  const result = await stream.result()
  stream.close()
  return codeOf(result)
}

/** The status is all that REST returns of a code (410 for an expired cursor, 503 for one that may become valid); the message decides. */
async function byPoll(url: string, after: string): Promise<string> {
  const response = await rest(`${url}/feed/updates?${new URLSearchParams({ after })}`)
  if (response.ok) return served
  const { error } = await response.json()
  if (/of another log/.test(error.message)) return 'CURSOR_OF_ANOTHER_LOG'
  return /try again later/.test(error.message) ? 'CURSOR_AHEAD_OF_TIP' : error.message
}

async function byClientOf(url: string, after: string): Promise<string> {
  for await (const event of follow({ url, after })) {
    if (event.__typename === 'FeedReset') return event.reason
    return event.__typename === 'FeedEnded' ? event.code : served
  }
  return 'ENDED'
}
