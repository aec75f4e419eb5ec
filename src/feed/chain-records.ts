import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import { joinSignals } from '../lib/join-signals.ts'
import type { Log } from '../lib/log.ts'
import { isStoreFault } from '../store/away.ts'
import type { StoreReader } from '../store/contract.ts'
import { patiently } from '../store/patience.ts'
import type { ChainRecordVersion } from '../store/rows.ts'
import { createWake } from './wake.ts'

/** Tells of every setting of a chain record, in the order they were made: a log of its own, followed by reading it. */

/** What telling needs. */
export interface ChainRecordFeedDeps {
  readonly reader: Pick<StoreReader, 'chainRecordChanges' | 'latestChainRecordChange'>
  readonly log: Pick<Log, 'error'>
  /** How long a setting by another process may stay unnoticed, in milliseconds. */
  readonly tickMs?: number
}

/** The feed of one process. */
export interface ChainRecordFeed {
  /** Tells that this process has set a record. */
  notify(change: number): void
  /** Every setting behind a position, old ones first and then as they are made, until the signal. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<ChainRecordVersion, void, undefined>
  close(): void
}

/** Opens the feed. */
export function openChainRecordFeed({
  reader,
  log,
  tickMs = 1_000,
}: ChainRecordFeedDeps): ChainRecordFeed {
  const wake = createWake()
  const closed = new AbortController()
  // One look for all who wait, and none where nobody does.
  const ticks = setInterval(() => {
    if (wake.waiting() > 0) void look()
  }, tickMs)

  async function look(): Promise<void> {
    try {
      const newest = await reader.latestChainRecordChange()
      if (newest > wake.newest()) wake.notify(newest)
    } catch (error) {
      // The next tick looks again.
      if (!isStoreFault(error)) log.error('chain-records-unread', { error })
    }
  }

  async function* follow(
    start: number,
    stopped: AbortSignal,
  ): AsyncGenerator<ChainRecordVersion, void, undefined> {
    const { joined: signal, leave } = joinSignals(stopped, closed.signal)
    let after = start
    try {
      while (!signal.aborted) {
        const page = { after, limit: batchSize }
        const changes = await patiently(() => reader.chainRecordChanges(page), signal)
        for (const change of changes) {
          yield change
          after = change.change
        }
        if (changes.length === 0) await wake.wait({ beyond: after, signal, tickMs: longestWaitMs })
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

/** Names the log of chain records beside that of the ledger, so that no cursor of one is taken for the other's. */
export function chainRecordEpoch(epoch: Hex): Hex {
  const hash = createHash('sha256').update(hexToBytes(epoch)).update('chain records')
  return bytesToHex(hash.digest().subarray(0, 8))
}
