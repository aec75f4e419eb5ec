import { createListeners, type Listeners } from '../lib/listeners.ts'
import type { Log } from '../lib/log.ts'
import type { BlockId, TransactionId } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import { type ReadBlocks, shareBlocks } from './blocks.ts'
import { type CommitMarks, createCommitMarks } from './commit-marks.ts'
import { createExpirationTransfers, type ExpirationTransferDeps } from './expiration-transfers.ts'
import { createFeedHub, type FeedHub } from './hub.ts'
import { type ReadMilestones, shareMilestones } from './milestones.ts'
import type { LogReader } from './read.ts'
import { createStateWatch, type StateWatch } from './states.ts'
import { openTail, type Tail } from './tail.ts'
import { createTipValues, type TipValues } from './tip-values.ts'
import type { Wake } from './wake.ts'

/** The feed of one process: one tail that reads the log, and all subscribers of it. */

export interface FeedDeps {
  readonly reader: LogReader &
    ExpirationTransferDeps['reader'] &
    Pick<StoreReader, 'milestonesAfter' | 'blocksAfter' | 'blockStates' | 'transactions' | 'forget'>
  readonly parameters: Pick<ExpirationTransferDeps, 'minCommittableAge'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Measures the delay of updates. Without it, no delay is measured. */
  readonly commits?: CommitMarks | undefined
}

export interface FeedSettings {
  /** Maximum delay after a lost wake-up, in milliseconds. */
  readonly tickMs: number
  /** Milliseconds without an update after which a feed gets a progress message. */
  readonly progressMs: number
  /** Maximum number of rows of one event. */
  readonly batchRows: number
  /** Minimum number of newest rows that are held in memory, about 600 bytes each. */
  readonly ringRows: number
}

export interface Feed extends FeedSettings {
  readonly tail: Tail
  readonly hub: FeedHub
  readonly milestones: ReadMilestones
  /** Values that are read once for each tip. */
  readonly tipValues: TipValues
  /** Reads new blocks; subscribers share the reads. */
  readonly readBlocks: ReadBlocks
  /** Notified when this process adds blocks or may have changed their states. */
  readonly blocks: Listeners<void>
  readonly blockStates: StateWatch<BlockId>
  readonly transactionStates: StateWatch<TransactionId>
  /** Ends every feed. */
  close(): Promise<void>
}

/** The settings that a gateway uses by default. */
const defaultFeedSettings: FeedSettings = {
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
  const tail = await openTail({
    reader,
    wake,
    expirationTransfers: transfers,
    log,
    tickMs,
    ringRows,
  })
  const hub = createFeedHub({
    tail,
    commits,
    log,
    batchRows,
    progressMs,
    retryMs: tickMs,
    textCapacity,
  })
  const blocks = createListeners<void>()
  const blockStates = createStateWatch<BlockId>({
    read: async (ids) =>
      new Map((await reader.blockStates(ids)).map(({ blockId, state }) => [blockId, state])),
    tickMs,
  })
  const transactionStates = createStateWatch<TransactionId>({
    read: async (ids) =>
      new Map(
        (await reader.transactions(ids)).map(({ transactionId, state, failureReason = 0 }) => [
          transactionId,
          `${state} ${failureReason}`,
        ]),
      ),
    tickMs,
  })
  for (const { changed } of [blockStates, transactionStates]) {
    blocks.add(changed)
    tail.watchTip(changed)
  }
  return {
    ...settings,
    tail,
    hub,
    tipValues: createTipValues(tail),
    readBlocks: shareBlocks(reader, blocks),
    blocks,
    blockStates,
    transactionStates,
    milestones: shareMilestones(reader, () => tail.tip().era),
    close: async () => {
      hub.close()
      await tail.close()
    },
  }
}

/** Capacity of the cache of serialised events, in characters. */
const textCapacity = 16 * 1024 * 1024
