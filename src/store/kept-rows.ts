import { LRUCache } from 'lru-cache'
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
 * Rows of committed slots that never change any more, kept in memory for those who read as of one moment: of milestones, of
 * transactions that were accepted with their blocks, of outputs that are spent, and of the log. A commitment covers all before it, so
 * the tip of a snapshot says whether they are of its history (src/store/sql/branch-memory.ts does the same for branches).
 */

/** Rows that are kept, of one history. */
export interface KeptRows {
  /** Those of the history that was seen last, before it is known whether a snapshot has it. */
  caches(): RowCaches
  /** Those of the history of a tip; `undefined` where the tip is older than what is known, and may be of another history. */
  of(tip: LogTip, milestone: StoreReader['milestone']): Promise<RowCaches | undefined>
}

/** Rows by their keys; a row is there from the slot on that settled it. */
export interface RowCaches {
  /** By slot, and by commitment. */
  readonly milestones: LRUCache<SlotIndex | CommitmentId, Milestone>
  readonly transactions: LRUCache<TransactionRow['transactionId'], TransactionRow>
  readonly blocks: LRUCache<BlockRow['blockId'], BlockRow>
  readonly outputs: LRUCache<OutputRow['outputId'], OutputRow>
  readonly updates: LRUCache<LedgerUpdate['seq'], LedgerUpdate>
}

interface History {
  readonly logId: LogTip['logId'] | undefined
  /** The newest of its slots that is known, and the commitments of the last ones. */
  slot: SlotIndex
  readonly commitmentIds: Map<SlotIndex, CommitmentId>
  readonly caches: RowCaches
}

/** Nothing is known yet. */
export function createKeptRows(): KeptRows {
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
      // Another history, or the first one.
      if (known === history) known = begunWith(tip)
      return known.commitmentIds.get(slot) === commitmentId ? known.caches : undefined
    },
  }
}

/** Whether a snapshot has the newest slot that is known of a history, and so all before it. */
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
  // Others may have been faster.
  if (slot <= history.slot) return
  history.slot = slot
  commitmentIds.set(slot, commitmentId)
  const [oldest] = commitmentIds.keys()
  if (commitmentIds.size > mostTips && oldest !== undefined) commitmentIds.delete(oldest)
}

/** Snapshots last for seconds, and some slots are committed meanwhile. */
const mostTips = 64

function begunWith({ logId, slot, commitmentId }: LogTip): History {
  const commitmentIds = new Map([[slot, commitmentId]])
  return { logId, slot, commitmentIds, caches: createCaches() }
}

/** About 12 MiB in all: a row takes some hundred bytes beside its own. */
function createCaches(): RowCaches {
  const bounded = {
    maxSize: 4 * 1024 * 1024,
    sizeCalculation: ({ bytes }: BlockRow | OutputRow) => bytes.length + 800,
  }
  return {
    milestones: new LRUCache({ max: 2_000 }),
    transactions: new LRUCache({ max: 4_000 }),
    blocks: new LRUCache<BlockRow['blockId'], BlockRow>(bounded),
    outputs: new LRUCache<OutputRow['outputId'], OutputRow>(bounded),
    updates: new LRUCache({ max: 4_000 }),
  }
}

type ManyReads = Pick<
  StoreReader,
  'milestonesAt' | 'milestonesByCommitments' | 'transactions' | 'blocks' | 'outputs' | 'updatesAt'
>

/** The reads of rows by their keys as of one moment, of which those that are kept are not read again. */
export function readKept(
  kept: KeptRows,
  read: ManyReads & Pick<StoreReader, 'logTip' | 'milestone'>,
): ManyReads {
  const deps: KeptDeps = {
    caches: kept.caches,
    now: async () => {
      const tip = await read.logTip()
      return { tip, caches: await kept.of(tip, read.milestone) }
    },
  }
  const milestonesBy = <K extends SlotIndex | CommitmentId>(
    ask: (keys: readonly K[]) => Promise<Milestone[]>,
    keyOf: (row: Milestone) => K,
  ) =>
    keptRead<K, Milestone>(deps, {
      ask,
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
    transactions: keptRead(deps, {
      ask: read.transactions,
      keyOf: ({ transactionId }) => transactionId,
      cacheOf: ({ transactions }) => transactions,
      settledIn: ({ state, slot }) => (state === 'FINALIZED' ? slot : undefined),
    }),
    blocks: keptRead(deps, {
      ask: read.blocks,
      keyOf: ({ blockId }) => blockId,
      cacheOf: ({ blocks }) => blocks,
      // Others are pruned.
      settledIn: ({ state, slot, kind }) =>
        state === 'FINALIZED' && kind === 'transaction' ? slot : undefined,
    }),
    outputs: keptRead(deps, {
      ask: read.outputs,
      keyOf: ({ outputId }) => outputId,
      cacheOf: ({ outputs }) => outputs,
      // In upstream mode a row may come to know more.
      settledIn: ({ spentSlot, spentBy, blockId }) =>
        spentBy === undefined || blockId === undefined ? undefined : spentSlot,
    }),
    updatesAt: keptRead(deps, {
      ask: read.updatesAt,
      keyOf: ({ seq }) => seq,
      cacheOf: ({ updates }) => updates,
      settledIn: ({ milestoneIndex }) => milestoneIndex,
      isThere: ({ seq }, { prunedSeq }) => seq > prunedSeq,
    }),
  }
}

interface KeptDeps {
  readonly caches: KeptRows['caches']
  /** What the snapshot says of the tip, and the rows of its history. */
  now(): Promise<{ readonly tip: LogTip; readonly caches: RowCaches | undefined }>
}

interface Kind<K, Row> {
  ask(keys: readonly K[]): Promise<Row[]>
  keyOf(row: Row): K
  cacheOf(caches: RowCaches): { get(key: K): Row | undefined; set(key: K, row: Row): unknown }
  /** The slot from which on the row never changes; `undefined` while it may. */
  settledIn(row: Row): SlotIndex | undefined
  /** Whether it was not removed; by default none is. */
  isThere?(row: Row, tip: LogTip): boolean
}

/** Asks for what is not kept at once with the tip, and for the rest where the tip is of another history, or older. */
function keptRead<K extends NonNullable<unknown>, Row extends NonNullable<unknown>>(
  { caches, now }: KeptDeps,
  { ask, keyOf, cacheOf, settledIn, isThere = () => true }: Kind<K, Row>,
): (keys: readonly K[]) => Promise<Row[]> {
  const reading = async (keys: readonly K[]) => (keys.length === 0 ? [] : await ask(keys))
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
    const read = wrong.length === 0 ? found : [...found, ...(await ask(wrong))]
    if (at.caches !== undefined) {
      const kept = cacheOf(at.caches)
      for (const row of read) if (isOf(row, at.tip)) kept.set(keyOf(row), row)
    }
    if (known.length === 0) return read
    return [...(wrong.length === 0 ? known : known.filter(isRight)), ...read]
  }
}
