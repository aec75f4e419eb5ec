import type { Log } from '../../lib/log.ts'
import type { Store, StoreNotification } from '../contract.ts'
import type { OnStoreCall } from '../fault-log.ts'
import type { ReplicasStatus } from '../replica-contract.ts'
import { createAnnouncer } from './announcer.ts'
import { type Choice, createChoice } from './choice.ts'
import { acknowledgedWrites, routedReads, routedSnapshot } from './routed-reads.ts'
import { openReplica, primaryServer } from './server.ts'

/** A store whose requests and feeds read at replicas of its PostgreSQL (docs/decisions/042-read-replicas.md). */

/** Where to read, and how far a replica may be behind. */
export interface ReplicaOptions {
  /** Of the database that is written. */
  readonly primaryUrl: string
  readonly replicaUrls: readonly string[]
  readonly maxLagSeconds: number
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Takes the durations of reads at replicas. */
  readonly onCall: OnStoreCall | undefined
  /** Takes notifications of the store, once what they name can be read. */
  readonly hear: (news: StoreNotification) => void
}

/** A store in two: for what writes, and for requests and feeds. */
export interface ReplicatedStore {
  /** Reads at the primary, for what writes; what it acknowledges is in the reads of `serving`. */
  readonly writing: Store
  readonly serving: Store
  /** Passes a notification on once what it names can be read. */
  announce(news: StoreNotification): void
  /** Begins to look at the servers; until then everything is read at the primary. */
  begin(): Promise<void>
  close(): Promise<void>
}

/** Connects to no replica before `begin`. Closing it closes the store, too. */
export function openReplicated(store: Store, options: ReplicaOptions): ReplicatedStore {
  const { primaryUrl, replicaUrls, maxLagSeconds, log, onCall, hear } = options
  const choice = createChoice({
    primary: primaryServer(store, primaryUrl),
    replicas: turned(replicaUrls).map((url) => () => openReplica({ url, log, onCall })),
    maxLagMs: 1_000 * maxLagSeconds,
    log,
    onMoved: () => announcer.moved(),
  })
  const announcer = createAnnouncer(choice, hear)
  const write = acknowledgedWrites(store.write, choice)
  const read = routedReads(choice)
  const looking = lookAgain(choice, log)

  return {
    writing: { ...store, write },
    serving: {
      ...store,
      write,
      read,
      snapshot: routedSnapshot(choice, read),
      replicas: () => statusOf(choice),
    },
    announce: announcer.announce,
    begin: looking.begin,
    close: async () => {
      announcer.close()
      await looking.close()
      await choice.close()
      await store.close()
    },
  }
}

/** Processes of one machine begin with different replicas. */
function turned(urls: readonly string[]): readonly string[] {
  const first = process.pid % urls.length
  return [...urls.slice(first), ...urls.slice(0, first)]
}

function lookAgain({ look }: Pick<Choice, 'look'>, log: ReplicaOptions['log']) {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  async function next(): Promise<void> {
    // A look that fails is a fault of ours, and the next one may not.
    await look().catch((error: unknown) => log.warn('replicas-unread', { error }))
    if (!isClosed) timer = setTimeout(() => void begin(), lookEveryMs)
  }

  function begin(): Promise<void> {
    last = next()
    return last
  }

  async function close(): Promise<void> {
    isClosed = true
    clearTimeout(timer)
    await last
  }

  return { begin, close }
}

const lookEveryMs = 1_000

function statusOf({ current, isPrimaryAway, replicas }: Choice): ReplicasStatus {
  return {
    isPrimaryAway: isPrimaryAway(),
    replicas: replicas.map((place) => ({
      name: place.server.name,
      state: place.out !== undefined ? 'left_out' : place === current() ? 'read' : 'ready',
      lagMs: place.lagMs,
    })),
  }
}
