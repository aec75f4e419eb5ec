import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { createExpirationTransfers, type ExpirationTransferDeps } from './expiration-transfers.ts'
import { createFeedHub, type FeedHub } from './hub.ts'
import { type ReadMilestones, shareMilestones } from './milestones.ts'
import type { LogReader } from './read.ts'
import { openTail, type Tail } from './tail.ts'
import type { Wake } from './wake.ts'

/** The feed of one process: one tail that reads, and all who are told of it. */

/** What the feed needs. */
export interface FeedDeps {
  readonly reader: LogReader &
    ExpirationTransferDeps['reader'] &
    Pick<StoreReader, 'milestonesAfter' | 'forget'>
  readonly parameters: Pick<ExpirationTransferDeps, 'minCommittableAge'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly log: Pick<Log, 'warn' | 'error'>
}

/** How the feed behaves; each has a sound default. */
export interface FeedSettings {
  /** How long a lost wake-up may cost, in milliseconds. */
  readonly tickMs: number
  /** After so long without an update a feed is told how far it is covered. */
  readonly progressMs: number
  /** The most rows of one event. */
  readonly batchRows: number
  /** The least number of newest rows that are kept in memory, about 600 bytes each. */
  readonly ringRows: number
}

/** The open feed. */
export interface Feed extends FeedSettings {
  readonly tail: Tail
  readonly share: FeedHub
  readonly milestones: ReadMilestones
  /** Ends every feed. */
  close(): Promise<void>
}

/** The settings of a gateway. */
export const defaultFeedSettings: FeedSettings = {
  tickMs: 1_000,
  progressMs: 30_000,
  batchRows: 100,
  ringRows: 16_384,
}

/** Opens the feed of a log that is founded. */
export async function openFeed(
  { reader, parameters, wake, log }: FeedDeps,
  changes: Partial<FeedSettings> = {},
): Promise<Feed> {
  const settings = { ...defaultFeedSettings, ...changes }
  const { tickMs, progressMs, batchRows, ringRows } = settings
  const { minCommittableAge } = parameters
  const transfers = createExpirationTransfers({ reader, minCommittableAge })
  const pageRows = ringRows
  const tail = await openTail({
    reader,
    wake,
    expirationTransfers: transfers,
    log,
    tickMs,
    ringRows,
    pageRows,
  })
  const share = createFeedHub({ tail, log, batchRows, progressMs, retryMs: tickMs, textCapacity })
  return {
    ...settings,
    tail,
    share,
    milestones: shareMilestones(reader, () => tail.tip().era),
    close: async () => {
      share.close()
      await tail.close()
    },
  }
}

/** Serialised events that are kept for latecomers, in characters. */
const textCapacity = 16 * 1024 * 1024
