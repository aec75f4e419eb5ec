import type { Config } from './config.ts'
import type { CommitMarks } from './feed/commit-marks.ts'
import type { Wake } from './feed/wake.ts'
import { createListeners } from './lib/listeners.ts'
import type { Log } from './lib/log.ts'
import { err, ok, type Result } from './lib/result.ts'
import type { SnapshotAway } from './node/snapshot/snapshot-errors.ts'
import { checkSnapshotFile } from './node/snapshot/snapshot-source.ts'
import { isNodeUrl } from './setting-values.ts'
import { notifyBlockChanges } from './store/block-changes.ts'
import type { Store, StoreNotification } from './store/contract.ts'
import { logStoreFaults, type OnStoreCall } from './store/fault-log.ts'
import { openStore } from './store/open.ts'
import type { ReplicaOptions, ReplicatedStore } from './store/replicas/open.ts'

/** The store of a gateway: logs its faults, wakes the feeds after commits, and reads from its replicas. */

/** Opens the store. Faults are logged, and writes of this process or another one wake the feeds and waiting requests. */
export async function openWatchedStore(
  config: Config,
  { log, wake, commits, onCall, stopping }: WatchedStoreDeps,
) {
  const primaryUrl = config.databaseUrl.reveal()
  const snapshot = await checkSnapshot(config)
  const database = await openStore({
    url: primaryUrl,
    wakeUrl: config.wakeDatabaseUrl?.reveal(),
    log,
    mayCreate: !config.noCreate && snapshot.ok,
    writesOn: 'THREAD',
    stopping,
  })
  if (!database.ok) {
    const isMissing = database.error.code === 'LEDGER_MISSING' && !config.noCreate
    return isMissing && !snapshot.ok ? snapshot : database
  }
  const blockChanges = createListeners<void>()
  const observed = logStoreFaults(database.value, log, onCall)
  const notify = (notification: StoreNotification) => {
    if (notification.topic === 'LOG_GREW') wake.notify(notification.seq)
    else blockChanges.notify()
  }
  const deps = { primaryUrl, log, onCall, onNotification: notify }
  const replicated = await openReplicas(config, observed, deps)
  const notifyWhenReadable = replicated?.notifyWhenReadable ?? notify
  const onCommitted = (seq: number) => {
    commits.committed(seq)
    notifyWhenReadable({ topic: 'LOG_GREW', seq })
  }
  const written = replicated?.writing ?? observed
  const store = notifyBlockChanges(written, () => notifyWhenReadable({ topic: 'BLOCKS_ACCEPTED' }))
  // The store ends this subscription when it closes.
  store.listen((notification) => {
    if (notification.topic === 'LOG_GREW') onCommitted(notification.seq)
    notifyWhenReadable({ topic: 'BLOCKS_ACCEPTED' })
  })
  return ok({ store, onCommitted, blockChanges, replicated })
}

interface WatchedStoreDeps {
  readonly log: Log
  readonly wake: Wake
  readonly commits: CommitMarks
  readonly onCall: OnStoreCall | undefined
  /** Aborts a start that takes long. */
  readonly stopping: AbortSignal | undefined
}

/** Checks the file with which a new database begins. A database with a ledger does not need it. */
async function checkSnapshot({ snapshot }: Config): Promise<Result<undefined, SnapshotAway>> {
  if (snapshot === undefined || isNodeUrl(snapshot)) return ok(undefined)
  const checked = await checkSnapshotFile(snapshot)
  if (checked.ok) return checked
  const { code, path, reason } = checked.error
  return err({ code, reason: `${path}: ${reason}` })
}

/** Loads the modules of replicas only if there are replicas. */
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
