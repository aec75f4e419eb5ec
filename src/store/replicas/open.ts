import type { Log } from '../../lib/log.ts'
import type { ReplicasStatus } from '../contract/replica.ts'
import type { Store, StoreNotification } from '../contract.ts'
import type { OnStoreCall } from '../fault-log.ts'
import { type Choice, createChoice } from './choice.ts'
import { createReplicaNotifier } from './replica-notifier.ts'
import { acknowledgedWrites, routedReads, routedSnapshot } from './routed-reads.ts'
import { openReplica, primaryServer } from './server.ts'

/** A store whose requests and feeds read from replicas of its PostgreSQL server (docs/decisions/042-read-replicas.md). */

/** URLs of the servers, the maximum lag of a replica, and hooks. */
export interface ReplicaOptions {
  readonly primaryUrl: string
  readonly replicaUrls: readonly string[]
  readonly maxLagSeconds: number
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Receives the duration of each read from a replica. */
  readonly onCall: OnStoreCall | undefined
  /** Receives notifications of the store once their changes can be read. */
  readonly onNotification: (notification: StoreNotification) => void
}

/** Two views of a store: one for writers, one for requests and feeds. */
export interface ReplicatedStore {
  /** Reads from the primary, for writers. The reads of `serving` include every write that it has acknowledged. */
  readonly writing: Store
  /** Reads from the chosen server, for requests and feeds. */
  readonly serving: Store
  /** Forwards a notification once its change can be read. */
  notifyWhenReadable(notification: StoreNotification): void
  /** Starts to check the servers. Until then, all reads go to the primary. */
  begin(): Promise<void>
  close(): Promise<void>
}

/** Opens the store. It connects to no replica before `begin`. Closing it also closes the underlying store. */
export function openReplicated(store: Store, options: ReplicaOptions): ReplicatedStore {
  const { primaryUrl, replicaUrls, maxLagSeconds, log, onCall, onNotification } = options
  const choice = createChoice({
    primary: primaryServer(store, primaryUrl),
    replicas: rotated(replicaUrls).map((url) => () => openReplica({ url, log, onCall })),
    maxLagMs: 1_000 * maxLagSeconds,
    log,
    onMoved: () => notifier.moved(),
  })
  const notifier = createReplicaNotifier(choice, onNotification)
  const write = acknowledgedWrites(store.write, choice)
  const read = routedReads(choice)
  const checks = periodicChecks(choice, log)

  return {
    writing: { ...store, write },
    serving: {
      ...store,
      write,
      read,
      snapshot: routedSnapshot(choice, read),
      replicas: () => statusOf(choice),
    },
    notifyWhenReadable: notifier.notifyWhenReadable,
    begin: checks.begin,
    close: async () => {
      notifier.close()
      await checks.close()
      await choice.close()
      await store.close()
    },
  }
}

/** Rotates the list by the process id, so that processes on one machine prefer different replicas. */
function rotated(urls: readonly string[]): readonly string[] {
  const first = process.pid % urls.length
  return [...urls.slice(first), ...urls.slice(0, first)]
}

/** Checks the servers once a second. */
function periodicChecks({ check }: Pick<Choice, 'check'>, log: ReplicaOptions['log']) {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  async function next(): Promise<void> {
    // A check that throws is a bug of this program. The next check may succeed.
    await check().catch((error: unknown) => log.warn('replicas-unread', { error }))
    if (!isClosed) timer = setTimeout(() => void begin(), checkEveryMs)
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

const checkEveryMs = 1_000

function statusOf({ current, isPrimaryAway, replicas }: Choice): ReplicasStatus {
  return {
    isPrimaryAway: isPrimaryAway(),
    replicas: replicas.map((target) => ({
      name: target.server.name,
      state: target.out !== undefined ? 'left_out' : target === current() ? 'read' : 'ready',
      lagMs: target.lagMs,
    })),
  }
}
