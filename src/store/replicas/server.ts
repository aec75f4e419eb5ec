import { setTimeout as delay } from 'node:timers/promises'
import { present } from '../../lib/assert.ts'
import type { Store, StoreReader, StoreSnapshot } from '../contract.ts'
import type { StoreLog } from '../database.ts'
import { type OnStoreCall, timedReads } from '../fault-log.ts'
import { openPostgresql, openWatch } from '../postgresql/database.ts'
import { createReader } from '../reader.ts'
import type { LogTip } from '../rows.ts'
import { createSnapshots } from '../snapshots.ts'
import { logTipRead } from '../sql/log-tip.ts'
import { lsnText } from '../sql/postgresql/position.ts'
import { postgresqlStatements } from '../sql/postgresql/statements.ts'
import { createReading } from '../sql/reading.ts'
import { databaseLocation } from '../url.ts'
import { createSameServer, type SameServer } from './same-server.ts'

/** PostgreSQL server that is read: the primary, or one of its replicas. */
export interface Server extends Pick<Store, 'snapshot'> {
  /** Host and database, without user and password. */
  readonly name: string
  readonly read: StoreReader
  /** Reads the state of the server. Rejects after `stateTimeoutMs`. */
  state(): Promise<ServerState>
  /** Reads the flush position of the primary, or the replay position of a replica. Rejects after `stateTimeoutMs`. */
  lsn(): Promise<bigint>
  /** Whether its URL has led to another server since it was opened. Then it can only be opened again. */
  isReplaced(): boolean
  close(): Promise<void>
}

export interface ServerState {
  /** Position in the write-ahead log. `tip` includes everything up to it. */
  readonly lsn: bigint
  /** Whether the server follows a primary. */
  readonly isReplica: boolean
  readonly tip: LogTip
}

/** Wraps the primary. Its reads are those of the store. */
export function primaryServer(store: Store, url: string): Server {
  const watch = createWatch(url)
  return {
    name: databaseLocation(url),
    read: store.read,
    snapshot: store.snapshot,
    state: () =>
      watch.withTimeout(async () => {
        const position = await watch.position()
        // Read through the store, so that the history guard sees every tip that replicas may show.
        return { ...position, tip: await store.read.logTip() }
      }),
    lsn: async () => (await watch.withTimeout(watch.position)).lsn,
    isReplaced: () => false,
    close: watch.close,
  }
}

export interface ReplicaDeps {
  readonly url: string
  readonly log: StoreLog
  readonly onCall: OnStoreCall | undefined
}

/** Opens a replica. It connects at the first read. */
export function openReplica({ url, log, onCall }: ReplicaDeps): Server {
  const same = createSameServer()
  const watch = createWatch(url, same)
  const database = openPostgresql({ url, wakeUrl: undefined, log, onConnect: same.check })
  const read = timedReads(createReader(database), onCall)
  const snapshots = createSnapshots(database, createReader(database))
  const timed = new WeakMap<StoreReader, StoreReader>()

  async function snapshot(): Promise<StoreSnapshot> {
    const begun = await snapshots.begin()
    const known = timed.get(begun.read) ?? timedReads(begun.read, onCall)
    timed.set(begun.read, known)
    return { ...begun, read: known }
  }

  return {
    name: databaseLocation(url),
    read,
    snapshot,
    state: () =>
      watch.withTimeout(async () => ({ ...(await watch.position()), tip: await watch.tip() })),
    lsn: async () => (await watch.withTimeout(watch.position)).lsn,
    isReplaced: same.isBroken,
    close: async () => {
      snapshots.close()
      // A server that hangs does not close its connections.
      await Promise.race([
        Promise.all([watch.close(), database.close()]),
        delay(stateTimeoutMs, undefined, { ref: false }),
      ])
    },
  }
}

/** Opens a separate connection for checks. It is replaced after a failure, because a hanging connection may never respond. */
function createWatch(url: string, same?: SameServer) {
  const open = () => openWatch(url, stateTimeoutMs, same?.check)
  let reads = open()

  async function drop(): Promise<void> {
    const former = reads
    reads = open()
    await former.close().catch(() => {})
  }

  async function withTimeout<T>(work: () => Promise<T>): Promise<T> {
    const over = new AbortController()
    const late = delay(stateTimeoutMs, undefined, { signal: over.signal, ref: false }).then(() => {
      throw new Error(`no response within ${stateTimeoutMs} ms`)
    })
    try {
      same?.holds()
      return await Promise.race([work(), late])
    } catch (failure) {
      void drop()
      throw failure
    } finally {
      late.catch(() => {})
      over.abort()
    }
  }

  async function position() {
    const [row] = await reads.query(lsnText, [])
    const [lsn, follows] = present(row, 'the position of a server')
    const isReplica = follows === true
    // A replica that was promoted is on a timeline of its own and reaches no position of the primary.
    const isAstray = same !== undefined && !isReplica
    return { lsn: isAstray ? 0n : BigInt(String(lsn)), isReplica }
  }

  function tip(): Promise<LogTip> {
    const { query, queryBoth } = reads
    return logTipRead(createReading({ query, queryBoth, statements: postgresqlStatements }))()
  }

  return { withTimeout, position, tip, close: () => reads.close() }
}

const stateTimeoutMs = 2_000
