import type { TrustedDocuments } from '../../src/api/graphql/execution/documents.ts'
import { defaultLimits, type TransportLimits } from '../../src/api/limits.ts'
import { type Feed, type FeedSettings, openFeed } from '../../src/feed/open.ts'
import { createWake } from '../../src/feed/wake.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import type { Services } from '../../src/service/services.ts'
import type { Store, StoreReader } from '../../src/store/contract.ts'
import type { LogEntry } from '../../src/store/rows.ts'
import { type DatabaseKind, defaultDatabase } from './databases.ts'
import { type LogStore, openLogStore } from './log-store.ts'
import { startTransports, type TestTransports } from './start-gateway.ts'
import { until } from './until.ts'

/** The transports of a gateway over real sockets, on a log to which the test commits slot by slot. */
export interface ServedLog {
  readonly log: LogStore
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** Commits the next slots and wakes the feeds. */
  commit(...slots: (readonly LogEntry[])[]): Promise<void>
  /** Sends a GraphQL request over HTTP and returns the whole response. */
  ask(query: string, variables?: object): Promise<GraphqlAnswer>
  readonly feed: Feed
  /** Every line that the transports have written to the log. */
  readonly logged: readonly string[]
  /** Issues a token that is valid for an hour. */
  token: TestTransports['token']
  /** Waits until the feed has reached the newest committed slot. */
  known(): Promise<void>
  /** Makes the transports report that they are not ready; they continue to serve. */
  announceStop(): void
  /** Closes only the transports, and ends the feeds over `windowMs`. */
  drain(windowMs: number): Promise<void>
  close(): Promise<void>
}

/** A GraphQL response of any shape. A test that reads a missing member fails. */
export interface GraphqlAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  readonly data?: any
  readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[]
}

/** The parameters of the served log, which determine the times of slots and the prefix of addresses. */
export const servedParameters = {
  ...developmentParameters(0),
  bech32Hrp: 'tst',
  genesisSlot: 0,
  genesisUnixTimestamp: 1_700_000_000n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
  minCommittableAge: 3,
}

/** The Bech32 text of an address on the network of the served log. */
export function addressText(address: Hex, hrp = servedParameters.bech32Hrp): string {
  return encodeBech32(hrp, hexToBytes(address))
}

/** The options of a served log. */
export interface ServedLogOptions {
  readonly settings?: Partial<FeedSettings>
  readonly limits?: Partial<TransportLimits>
  readonly clock?: Clock
  readonly trustedDocuments?: TrustedDocuments | undefined
  /** Whether another gateway may have a newer tip of the log. */
  readonly mayLag?: boolean
  /** The database; the usual one by default. */
  readonly database?: DatabaseKind
  /** Changes the reads of the services, for example to delay one. */
  readonly changed?: (read: StoreReader) => StoreReader
}

/** Changes the reads of a store and of its snapshots. */
function withReads(store: Store, changed: (read: StoreReader) => StoreReader): Store {
  const snapshot = async () => {
    const begun = await store.snapshot()
    return { ...begun, read: changed(begun.read) }
  }
  return { ...store, read: changed(store.read), snapshot }
}

/** Opens the transports on an empty log and a free port. By default no timer of the feed fires. */
export async function serveLog({
  settings = {},
  limits = {},
  clock = systemClock,
  trustedDocuments,
  mayLag = true,
  database = defaultDatabase(),
  changed,
}: ServedLogOptions = {}): Promise<ServedLog> {
  const log = await openLogStore(database)
  const wake = createWake()
  const feed = await openFeed(
    { reader: log.store.read, parameters: servedParameters, wake, log: silentLog },
    { tickMs: 2 ** 30, progressMs: 2 ** 30, ...settings },
  )
  const status = () => ({ reasons: [], role: 'WRITER', term: 1 })
  // Tests of a served log do not use the other services.
  const services = {
    store: changed === undefined ? log.store : withReads(log.store, changed),
    source: { status },
    parameters: servedParameters,
    feed,
    mayLag,
    clock,
  } as unknown as Services
  const transports = await startTransports(
    services,
    { ...defaultLimits, ...limits },
    trustedDocuments,
  )

  async function commit(...slots: (readonly LogEntry[])[]): Promise<void> {
    await log.commit(...slots)
    wake.notify(log.rows.length)
  }

  async function ask(query: string, variables: object = {}): Promise<GraphqlAnswer> {
    const response = await fetch(`${transports.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as GraphqlAnswer
  }

  async function close(): Promise<void> {
    await transports.close()
    await feed.close()
    await log.close()
  }

  const known = async () => void (await until(() => feed.tail.tip().slot === log.slot()))
  const { url, token, announceStop, drain, logged } = transports
  return { log, url, logged, commit, ask, feed, token, known, announceStop, drain, close }
}
