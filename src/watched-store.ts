import type { Config } from './config.ts'
import type { CommitMarks } from './feed/commit-marks.ts'
import type { Wake } from './feed/wake.ts'
import { createListeners } from './lib/listeners.ts'
import type { Log } from './lib/log.ts'
import { ok } from './lib/result.ts'
import { notifyBlockChanges } from './store/block-changes.ts'
import type { Store, StoreNotification } from './store/contract.ts'
import { logStoreFaults, type OnStoreCall } from './store/fault-log.ts'
import { openStore } from './store/open.ts'
import type { ReplicaOptions, ReplicatedStore } from './store/replicas/open.ts'

/** The store of a gateway: its faults are logged, its commits wake the feeds, and its replicas are read. */

/** Opens the store, whose faults are logged and whose writes, here or by another process, wake who waits for them. */
export async function openWatchedStore(
  config: Config,
  { log, wake, commits, onCall }: WatchedStoreDeps,
) {
  const primaryUrl = config.databaseUrl.reveal()
  const database = await openStore({
    url: primaryUrl,
    wakeUrl: config.wakeDatabaseUrl?.reveal(),
    log,
    mayCreate: !config.noCreate,
    writesOn: 'THREAD',
  })
  if (!database.ok) return database
  const blockChanges = createListeners<void>()
  const observed = logStoreFaults(database.value, log, onCall)
  const hear = (news: StoreNotification) => {
    if (news.topic === 'LOG_GREW') wake.notify(news.seq)
    else blockChanges.notify()
  }
  const replicated = await openReplicas(config, observed, { primaryUrl, log, onCall, hear })
  const announce = replicated?.announce ?? hear
  const onCommitted = (seq: number) => {
    commits.committed(seq)
    announce({ topic: 'LOG_GREW', seq })
  }
  const written = replicated?.writing ?? observed
  const store = notifyBlockChanges(written, () => announce({ topic: 'BLOCKS_ACCEPTED' }))
  // The store ends this subscription when it is closed.
  store.listen((news) => {
    if (news.topic === 'LOG_GREW') onCommitted(news.seq)
    announce({ topic: 'BLOCKS_ACCEPTED' })
  })
  return ok({ store, onCommitted, blockChanges, replicated })
}

interface WatchedStoreDeps {
  readonly log: Log
  readonly wake: Wake
  readonly commits: CommitMarks
  readonly onCall: OnStoreCall | undefined
}

/** Loaded only where there are replicas. */
async function openReplicas(
  { readDatabaseUrls, readMaxLag: maxLagSeconds }: Config,
  store: Store,
  options: Omit<ReplicaOptions, 'replicaUrls' | 'maxLagSeconds'>,
): Promise<ReplicatedStore | undefined> {
  if (readDatabaseUrls === undefined) return undefined
  const { openReplicated } = await import('./store/replicas/open.ts')
  const replicaUrls = readDatabaseUrls.map((url) => url.reveal())
  return openReplicated(store, { ...options, replicaUrls, maxLagSeconds })
}
