import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import { joinSignals } from '../lib/join-signals.ts'
import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import { retryWhileAway } from '../store/retry.ts'
import type { ChainRecordVersion, LogPosition } from '../store/rows.ts'
import { noBranch } from '../store/values.ts'
import { createWake } from './wake.ts'

/** The feed of chain records: a separate log of all changes of chain records, in order. */

export interface ChainRecordFeedDeps {
  readonly reader: Pick<StoreReader, 'chainRecordChanges' | 'latestChainRecordChange'>
  readonly log: Pick<Log, 'error'>
  /** Maximum delay of a change that another process made, in milliseconds. */
  readonly tickMs?: number
}

export interface ChainRecordFeed {
  /** Called when this process has set a record; `change` is its position. */
  notify(change: number): void
  /**
   * Yields every change after a position, first the existing changes and then new ones, until the signal fires. Ends when
   * the log was replaced: cursors of the former log are refused from then on.
   */
  follow(
    after: LogPosition,
    signal: AbortSignal,
  ): AsyncGenerator<ChainRecordVersion, void, undefined>
  close(): void
}

export function openChainRecordFeed({
  reader,
  log,
  tickMs = 1_000,
}: ChainRecordFeedDeps): ChainRecordFeed {
  const wake = createWake()
  const logFailure = createFailureLog(log)
  const closed = new AbortController()
  // One poll serves all waiting followers; without followers nothing is read.
  const ticks = setInterval(() => {
    if (wake.waiting() > 0) void poll()
  }, tickMs)

  async function poll(): Promise<void> {
    try {
      const newest = await reader.latestChainRecordChange()
      if (newest > wake.newest()) wake.notify(newest)
    } catch (failure) {
      // The next tick reads again.
      logFailure('chain-records-unread', failure)
    }
  }

  async function* follow(
    start: LogPosition,
    stopped: AbortSignal,
  ): AsyncGenerator<ChainRecordVersion, void, undefined> {
    const { joined: signal, leave } = joinSignals(stopped, closed.signal)
    let at = start
    let notified = 0
    try {
      while (!signal.aborted) {
        // The page begins with the last emitted change, which proves that the log is still the same.
        const page = { after: at.seq - 1, limit: batchSize + 1 }
        const changes = [...(await retryWhileAway(() => reader.chainRecordChanges(page), signal))]
        const last = at.seq === 0 ? undefined : changes.shift()
        if (branchOfChange(last) !== at.branch) return
        for (const change of changes) {
          yield change
          at = positionOfChange(change)
        }
        if (changes.length > 0) continue
        // A notification may name a change that this reader lacks: on a lagging replica, or since an older copy was restored.
        const waitMs = notified > at.seq ? tickMs : longestWaitMs
        const beyond = Math.max(at.seq, notified)
        notified = await wake.wait({ beyond, signal, tickMs: waitMs })
      }
    } finally {
      leave()
    }
  }

  return {
    notify: wake.notify,
    follow,
    close: () => {
      clearInterval(ticks)
      closed.abort()
    },
  }
}

const batchSize = 100
const longestWaitMs = 60_000

export function positionOfChange(record: ChainRecordVersion): LogPosition {
  return { seq: record.change, branch: branchOfChange(record) }
}

/** The branch after a change: a hash of its content and its time, which differs in every other copy of the database. */
export function branchOfChange(last: ChainRecordVersion | undefined): Hex {
  if (last === undefined) return noBranch
  const { chainId, version, accessNodes, isActive, setBy, setAt, change } = last
  const text = JSON.stringify([change, chainId, version, accessNodes, isActive, setBy, setAt])
  return bytesToHex(createHash('sha256').update(text).digest().subarray(0, 6))
}

/** The id of the log of chain records. It differs from the ledger's log id, so that cursors of the two logs cannot be confused. */
export function chainRecordLogId(logId: Hex): Hex {
  const hash = createHash('sha256').update(hexToBytes(logId)).update('chain records')
  return bytesToHex(hash.digest().subarray(0, 8))
}
