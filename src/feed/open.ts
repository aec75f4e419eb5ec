import { createListeners, type Listeners } from '../lib/listeners.ts'
import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { type ReadBlocks, shareBlocks } from './blocks.ts'
import { type CommitMarks, createCommitMarks } from './commit-marks.ts'
import { createExpirationTransfers, type ExpirationTransferDeps } from './expiration-transfers.ts'
import { createFeedHub, type FeedHub } from './hub.ts'
import { type ReadMilestones, shareMilestones } from './milestones.ts'
import type { LogReader } from './read.ts'
import { openTail, type Tail } from './tail.ts'
import { createTipValues, type TipValues } from './tip-values.ts'
import type { Wake } from './wake.ts'

/** The feed of one process: one tail that reads the log, and all subscribers. */

export interface FeedDeps {
  readonly reader: LogReader &
    ExpirationTransferDeps['reader'] &
    Pick<StoreReader, 'milestonesAfter' | 'blocksAfter' | 'forget'>
  readonly parameters: Pick<ExpirationTransferDeps, 'minCommittableAge'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Measures the delay of updates; without it nothing is measured. */
  readonly commits?: CommitMarks | undefined
}

/** How the feed behaves. */
export interface FeedSettings {
  /** The longest delay after a lost wake-up, in milliseconds. */
  readonly tickMs: number
  /** A feed without an update for so long gets a progress message, in milliseconds. */
  readonly progressMs: number
  /** The most rows of one event. */
  readonly batchRows: number
  /** The least number of newest rows that are kept in memory, about 600 bytes each. */
  readonly ringRows: number
}

export interface Feed extends FeedSettings {
  readonly tail: Tail
  readonly share: FeedHub
  readonly milestones: ReadMilestones
  /** What is read once for each tip. */
  readonly tipValues: TipValues
  /** New blocks, in reads that subscribers share. */
  readonly readBlocks: ReadBlocks
  /** Notified when blocks were added or may have changed their states, as far as this process knows of it at once. */
  readonly blocks: Listeners<void>
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

/** Opens the feed of an initialized log. */
export async function openFeed(
  { reader, parameters, wake, log, commits = createCommitMarks(() => {}) }: FeedDeps,
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
  const share = createFeedHub({
    tail,
    commits,
    log,
    batchRows,
    progressMs,
    retryMs: tickMs,
    textCapacity,
  })
  return {
    ...settings,
    tail,
    share,
    tipValues: createTipValues(tail),
    readBlocks: shareBlocks(reader),
    blocks: createListeners(),
    milestones: shareMilestones(reader, () => tail.tip().era),
    close: async () => {
      share.close()
      await tail.close()
    },
  }
}

/** Serialised events that are kept for later subscribers, in characters. */
const textCapacity = 16 * 1024 * 1024
