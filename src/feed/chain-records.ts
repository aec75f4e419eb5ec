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

/** The feed of chain records: every setting in the order they were made, a log of its own that is followed by reading it. */

export interface ChainRecordFeedDeps {
  readonly reader: Pick<StoreReader, 'chainRecordChanges' | 'latestChainRecordChange'>
  readonly log: Pick<Log, 'error'>
  /** The longest delay of a setting by another process, in milliseconds. */
  readonly tickMs?: number
}

export interface ChainRecordFeed {
  /** Called when this process has set a record. */
  notify(change: number): void
  /**
   * Every setting after a position, old ones first and then as they are made, until the signal. Ends when the log was
   * replaced: a cursor of the former one is refused from then on.
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
  // One look for all waiting followers, and none where there are none.
  const ticks = setInterval(() => {
    if (wake.waiting() > 0) void look()
  }, tickMs)

  async function look(): Promise<void> {
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
    try {
      while (!signal.aborted) {
        // With the last one that was emitted, to see that it is still the same log.
        const page = { after: at.seq - 1, limit: batchSize + 1 }
        const changes = [...(await retryWhileAway(() => reader.chainRecordChanges(page), signal))]
        const last = at.seq === 0 ? undefined : changes.shift()
        if (branchOfSettings(last) !== at.branch) return
        for (const change of changes) {
          yield change
          at = settingPosition(change)
        }
        if (changes.length === 0) {
          await wake.wait({ beyond: at.seq, signal, tickMs: longestWaitMs })
        }
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

/** The position of a setting. */
export function settingPosition(record: ChainRecordVersion): LogPosition {
  return { seq: record.change, branch: branchOfSettings(record) }
}

/** The branch after a setting: its content with the millisecond, which differs in every other copy of the database. */
export function branchOfSettings(last: ChainRecordVersion | undefined): Hex {
  if (last === undefined) return noBranch
  const { chainId, version, accessNodes, isActive, setBy, setAt, change } = last
  const text = JSON.stringify([change, chainId, version, accessNodes, isActive, setBy, setAt])
  return bytesToHex(createHash('sha256').update(text).digest().subarray(0, 6))
}

/** The id of the log of chain records, so that a cursor of it is not mistaken for one of the ledger's log. */
export function chainRecordLogId(logId: Hex): Hex {
  const hash = createHash('sha256').update(hexToBytes(logId)).update('chain records')
  return bytesToHex(hash.digest().subarray(0, 8))
}
