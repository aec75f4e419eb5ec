import type { TrustedDocuments } from '../../src/api/graphql/documents.ts'
import { defaultLimits, type TransportLimits } from '../../src/api/limits.ts'
import { type Feed, type FeedSettings, openFeed } from '../../src/feed/open.ts'
import { createWake } from '../../src/feed/wake.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import type { Services } from '../../src/service/services.ts'
import type { LogEntry } from '../../src/store/rows.ts'
import { type DatabaseKind, defaultDatabase } from './databases.ts'
import { type LogStore, openLogStore } from './log-store.ts'
import { startDoors, type TestDoors } from './start-gateway.ts'
import { until } from './until.ts'

/** The doors of a gateway, over real sockets, on a log that the test commits to slot by slot. */
export interface ServedLog {
  readonly log: LogStore
  /** Of the root, without a slash at its end. */
  readonly url: string
  /** Commits the next slots and wakes the feeds. */
  commit(...slots: (readonly LogEntry[])[]): Promise<void>
  /** Asks by GraphQL over HTTP; the whole answer. */
  ask(query: string, variables?: object): Promise<GraphqlAnswer>
  readonly feed: Feed
  /** Every line of the log of the doors so far. */
  readonly logged: readonly string[]
  /** A token of these doors, valid for an hour. */
  token: TestDoors['token']
  /** Lets the process go on until the feed knows of all that was committed. */
  known(): Promise<void>
  /** Has the doors say that they are not ready; they go on serving. */
  announceStop(): void
  /** Closes the doors alone, sending the listeners away over some milliseconds. */
  drain(windowMs: number): Promise<void>
  close(): Promise<void>
}

/** An answer of GraphQL, of any shape: its reader names the members it expects, and fails without them. */
export interface GraphqlAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  readonly data?: any
  readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[]
}

/** How time is cut in these tests, and how addresses are written. */
export const servedParameters = {
  ...developmentParameters(0),
  bech32Hrp: 'tst',
  genesisSlot: 0,
  genesisUnixTimestamp: 1_700_000_000n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
  minCommittableAge: 3,
}

/** The text of an address on the network of these tests. */
export function addressText(address: Hex, hrp = servedParameters.bech32Hrp): string {
  return encodeBech32(hrp, hexToBytes(address))
}

/** What a test may choose. */
export interface ServedLogOptions {
  readonly settings?: Partial<FeedSettings>
  readonly limits?: Partial<TransportLimits>
  readonly clock?: Clock
  readonly trustedDocuments?: TrustedDocuments | undefined
  /** Whether another gateway may know more of the log. */
  readonly mayLag?: boolean
  /** By default the usual one. */
  readonly database?: DatabaseKind
}

/** Opens the doors on a fresh log, on any free port. Nothing happens by time alone unless the settings say so. */
export async function serveLog({
  settings = {},
  limits = {},
  clock = systemClock,
  trustedDocuments,
  mayLag = true,
  database = defaultDatabase(),
}: ServedLogOptions = {}): Promise<ServedLog> {
  const log = await openLogStore(database)
  const wake = createWake()
  const feed = await openFeed(
    { reader: log.store.read, parameters: servedParameters, wake, log: silentLog },
    { tickMs: 2 ** 30, progressMs: 2 ** 30, ...settings },
  )
  const status = () => ({ reasons: [], role: 'WRITER', term: 1 })
  // The rest of the services is asked for by doors that these tests leave shut.
  const services = {
    store: log.store,
    source: { status },
    parameters: servedParameters,
    feed,
    mayLag,
    clock,
  } as unknown as Services
  const doors = await startDoors(services, { ...defaultLimits, ...limits }, trustedDocuments)

  async function commit(...slots: (readonly LogEntry[])[]): Promise<void> {
    await log.commit(...slots)
    wake.notify(log.rows.length)
  }

  async function ask(query: string, variables: object = {}): Promise<GraphqlAnswer> {
    const response = await fetch(`${doors.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as GraphqlAnswer
  }

  async function close(): Promise<void> {
    await doors.close()
    await feed.close()
    await log.close()
  }

  const known = async () => void (await until(() => feed.tail.tip().slot === log.slot()))
  const { url, token, announceStop, drain, logged } = doors
  return { log, url, logged, commit, ask, feed, token, known, announceStop, drain, close }
}
