import { LRUCache } from 'lru-cache'
import { type RepeatCache, repeatCache } from '../lib/repeat-cache.ts'
import type { CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from './contract.ts'
import type {
  BlockRow,
  LedgerUpdate,
  LogTip,
  Milestone,
  OutputRow,
  TransactionRow,
} from './rows.ts'

/**
 * A cache of immutable rows of committed slots for the reads of snapshots: milestones, accepted transactions with their blocks, spent
 * outputs, and log rows. A commitment covers the whole history before it, so the tip of a snapshot shows whether the
 * cached rows belong to its history (src/store/sql/branch-memory.ts does the same for branches).
 */

/** Cached rows of one history. */
export interface RowCache {
  /** Returns the caches of the history that was seen last. It is not yet known whether a snapshot has this history. */
  caches(): CachedRows
  /** Returns the caches of the history of a tip; `undefined` if the tip is older than the known slots and may belong to another history. */
  of(tip: LogTip, milestone: StoreReader['milestone']): Promise<CachedRows | undefined>
}

/** Rows by their keys. A row is valid from the slot on that made it immutable. */
export interface CachedRows {
  /** Milestones by slot and by commitment. */
  readonly milestones: RepeatCache<SlotIndex | CommitmentId, Milestone>
  readonly transactions: RepeatCache<TransactionRow['transactionId'], TransactionRow>
  readonly blocks: RepeatCache<BlockRow['blockId'], BlockRow>
  readonly outputs: RepeatCache<OutputRow['outputId'], OutputRow>
  readonly updates: RepeatCache<LedgerUpdate['seq'], LedgerUpdate>
}

interface History {
  readonly logId: LogTip['logId'] | undefined
  /** Newest known slot of the history. */
  slot: SlotIndex
  /** Commitments of the newest known slots. */
  readonly commitmentIds: Map<SlotIndex, CommitmentId>
  readonly caches: CachedRows
}

/** Creates an empty cache. */
export function createRowCache(): RowCache {
  let known: History = {
    logId: undefined,
    slot: -1,
    commitmentIds: new Map(),
    caches: createCaches(),
  }

  return {
    caches: () => known.caches,
    of: async (tip, milestone) => {
      const history = known
      const { slot, commitmentId, logId } = tip
      if (history.logId === logId) {
        const found = history.commitmentIds.get(slot)
        if (found === commitmentId) return history.caches
        if (found === undefined && slot < history.slot) return undefined
        if (found === undefined && (await hasSlot(history, milestone))) {
          note(history, tip)
          return history.caches
        }
      }
      // The tip belongs to another history, or to the first one.
      if (known === history) known = begunWith(tip)
      return known.commitmentIds.get(slot) === commitmentId ? known.caches : undefined
    },
  }
}

/** Whether a snapshot has the newest known slot of a history, and therefore all slots before it. */
async function hasSlot(
  { slot, commitmentIds }: History,
  milestone: StoreReader['milestone'],
): Promise<boolean> {
  const wanted = commitmentIds.get(slot)
  const found = await milestone(slot)
  return found !== undefined && found.commitmentId === wanted
}

function note(history: History, { slot, commitmentId }: LogTip): void {
  const { commitmentIds } = history
  // A concurrent read may have noted a newer slot.
  if (slot <= history.slot) return
  history.slot = slot
  commitmentIds.set(slot, commitmentId)
  const [oldest] = commitmentIds.keys()
  if (commitmentIds.size > maxTips && oldest !== undefined) commitmentIds.delete(oldest)
}

/** Number of commitments that are remembered. A snapshot lasts for seconds, in which some slots are committed. */
const maxTips = 64

function begunWith({ logId, slot, commitmentId }: LogTip): History {
  const commitmentIds = new Map([[slot, commitmentId]])
  return { logId, slot, commitmentIds, caches: createCaches() }
}

/** Creates caches of about 12 MiB in total. The overhead of a row is some hundred bytes. */
function createCaches(): CachedRows {
  const bounded = {
    maxSize: 4 * 1024 * 1024,
    sizeCalculation: ({ bytes }: BlockRow | OutputRow) => bytes.length + 800,
  }
  return {
    milestones: repeatCache(new LRUCache({ max: 2_000 })),
    transactions: repeatCache(new LRUCache({ max: 4_000 })),
    blocks: repeatCache(new LRUCache<BlockRow['blockId'], BlockRow>(bounded)),
    outputs: repeatCache(new LRUCache<OutputRow['outputId'], OutputRow>(bounded)),
    updates: repeatCache(new LRUCache({ max: 4_000 })),
  }
}

type ManyReads = Pick<
  StoreReader,
  'milestonesAt' | 'milestonesByCommitments' | 'transactions' | 'blocks' | 'outputs' | 'updatesAt'
>

/** Wraps the reads of rows by key of a snapshot, so that cached rows are not read again. */
export function cacheRowReads(
  rowCache: RowCache,
  read: ManyReads & Pick<StoreReader, 'logTip' | 'milestone'>,
): ManyReads {
  const deps: RowCacheDeps = {
    caches: rowCache.caches,
    now: async () => {
      const tip = await read.logTip()
      return { tip, caches: await rowCache.of(tip, read.milestone) }
    },
  }
  const milestonesBy = <K extends SlotIndex | CommitmentId>(
    readRows: (keys: readonly K[]) => Promise<Milestone[]>,
    keyOf: (row: Milestone) => K,
  ) =>
    cachedRead<K, Milestone>(deps, {
      readRows,
      keyOf,
      cacheOf: ({ milestones }) => milestones,
      settledIn: ({ slot }) => slot,
    })

  return {
    milestonesAt: milestonesBy(read.milestonesAt, ({ slot }) => slot),
    milestonesByCommitments: milestonesBy(
      read.milestonesByCommitments,
      ({ commitmentId }) => commitmentId,
    ),
    transactions: cachedRead(deps, {
      readRows: read.transactions,
      keyOf: ({ transactionId }) => transactionId,
      cacheOf: ({ transactions }) => transactions,
      settledIn: ({ state, slot }) => (state === 'FINALIZED' ? slot : undefined),
    }),
    blocks: cachedRead(deps, {
      readRows: read.blocks,
      keyOf: ({ blockId }) => blockId,
      cacheOf: ({ blocks }) => blocks,
      // Blocks of other kinds are pruned.
      settledIn: ({ state, slot, kind }) =>
        state === 'FINALIZED' && kind === 'transaction' ? slot : undefined,
    }),
    outputs: cachedRead(deps, {
      readRows: read.outputs,
      keyOf: ({ outputId }) => outputId,
      cacheOf: ({ outputs }) => outputs,
      // In upstream mode, missing columns of a row may be filled later.
      settledIn: ({ spentSlot, spentBy, blockId }) =>
        spentBy === undefined || blockId === undefined ? undefined : spentSlot,
    }),
    updatesAt: cachedRead(deps, {
      readRows: read.updatesAt,
      keyOf: ({ seq }) => seq,
      cacheOf: ({ updates }) => updates,
      settledIn: ({ milestoneIndex }) => milestoneIndex,
      isThere: ({ seq }, { prunedSeq }) => seq > prunedSeq,
    }),
  }
}

interface RowCacheDeps {
  readonly caches: RowCache['caches']
  /** Reads the tip of the snapshot, and returns the caches of its history. */
  now(): Promise<{ readonly tip: LogTip; readonly caches: CachedRows | undefined }>
}

interface Kind<K, Row> {
  readRows(keys: readonly K[]): Promise<Row[]>
  keyOf(row: Row): K
  cacheOf(caches: CachedRows): RepeatCache<K, Row>
  /** Returns the slot from which on the row never changes; `undefined` while it may change. */
  settledIn(row: Row): SlotIndex | undefined
  /** Whether the row is not pruned. By default rows are never pruned. */
  isThere?(row: Row, tip: LogTip): boolean
}

/** Reads uncached rows and the tip together. Then reads those cached rows that are not valid for the tip. */
function cachedRead<K extends NonNullable<unknown>, Row extends NonNullable<unknown>>(
  { caches, now }: RowCacheDeps,
  { readRows, keyOf, cacheOf, settledIn, isThere = () => true }: Kind<K, Row>,
): (keys: readonly K[]) => Promise<Row[]> {
  const reading = async (keys: readonly K[]) => (keys.length === 0 ? [] : await readRows(keys))
  const isOf = (row: Row, tip: LogTip) => (settledIn(row) ?? tip.slot + 1) <= tip.slot

  return async (keys) => {
    if (keys.length === 0) return []
    const guessed = caches()
    const cache = cacheOf(guessed)
    const known: Row[] = []
    const missing: K[] = []
    for (const key of new Set(keys)) {
      const row = cache.get(key)
      if (row === undefined) missing.push(key)
      else known.push(row)
    }
    const [found, at] = await Promise.all([reading(missing), now()])
    const isRight = (row: Row) => at.caches === guessed && isOf(row, at.tip) && isThere(row, at.tip)
    const wrong = known.filter((row) => !isRight(row)).map(keyOf)
    const read = wrong.length === 0 ? found : [...found, ...(await readRows(wrong))]
    if (at.caches !== undefined) {
      const current = cacheOf(at.caches)
      for (const row of read) if (isOf(row, at.tip)) current.add(keyOf(row), row)
    }
    if (known.length === 0) return read
    return [...(wrong.length === 0 ? known : known.filter(isRight)), ...read]
  }
}
