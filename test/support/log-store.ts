import { hash } from 'node:crypto'
import fc from 'fast-check'
import { encodeCursor } from '../../src/feed/cursor.ts'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import type { Result } from '../../src/lib/result.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import type { CommitmentId, OutputId } from '../../src/protocol/primitives.ts'
import type { Store } from '../../src/store/contract.ts'
import type {
  LedgerUpdate,
  LogEntry,
  LogPosition,
  OutputRow,
  SlotBlock,
  SlotContents,
  SlotTransaction,
  UpdateClass,
} from '../../src/store/rows.ts'
import { branchOf, noBranch } from '../../src/store/values.ts'
import { defaultDatabase, onDatabase, openedStore, republish } from './databases.ts'
import { partitioned } from './partitioned.ts'
import { testParameters } from './store-rows.ts'

/** A real store on a temporary database. A test writes its log slot by slot, and a plain array holds the written rows. */
export interface LogStore {
  readonly store: Store
  /** The log id, 8 bytes. */
  readonly logId: Hex
  /** Every written row in the order of the log, without the history hash, which the array cannot compute. */
  readonly rows: ModelRow[]
  /** The URL of the database. */
  readonly url: string
  /** The newest committed slot. */
  slot(): number
  /** Commits the next slots, one per list of entries. */
  commit(...slots: (readonly LogEntry[])[]): Promise<void>
  /** Prunes the updates of all but the newest `milestones`; `rows` still contains them. */
  prune(milestones: number): Promise<void>
  /** Changes the log id, as if the database had been replaced by another one. */
  replace(epoch: Hex): Promise<void>
  /** Resets the log to a slot, as if a backup had been restored. Later commits write another history. */
  rewind(slot: number): Promise<void>
  /** A position of this log. A position beyond its tip has a branch that no commitment has. */
  positionAt(seq: number): LogPosition
  /** The cursor of a position. */
  cursorAt(seq: number): string
  close(): Promise<void>
}

/** A row of the log in the naive model. */
export type ModelRow = Omit<LedgerUpdate, 'historyHash'>

/** Opens a store and initializes it with an empty genesis slot 0. */
export async function openLogStore(kind = defaultDatabase()): Promise<LogStore> {
  const database = await kind.create()
  const store = await openedStore(database.url)
  const lease = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 }))
  const logId = '0x00112233445566ff'
  const network = { logId, parameters: testParameters } as const
  unwrap(
    await store.write.initialize(lease.term, {
      network,
      outputs: [],
      accounts: [],
      epoch: { epoch: 0, committee: [], candidates: [], rewards: undefined },
      commit: commitOf(0, [], 'first'),
    }),
  )
  if (kind.partitionRows !== undefined)
    await partitioned(database.url, { rows: kind.partitionRows })
  const rows: ModelRow[] = []
  const ordinals = new Map<string, number>()
  let slot = 0
  let history = 'first'
  /** The last store writes. The former ones refuse to write to a database that lacks rows that they have read. */
  const stores = [store]
  const write = () => present(stores.at(-1), 'a store').write

  async function commit(...slots: (readonly LogEntry[])[]): Promise<void> {
    const commits = slots.map((entries, i) => commitOf(slot + 1 + i, sortEntries(entries), history))
    unwrap(await write().closeSlots(lease.term, slot + slots.length))
    unwrap(await write().commitSlots(lease.term, commits))
    slot += slots.length
    for (const { slot: milestoneIndex, commitmentId, entries } of commits) {
      const branch = branchOf(commitmentId)
      for (const entry of entries) {
        const key = entry.class + entry.address
        const ordinal = (ordinals.get(key) ?? 0) + 1
        ordinals.set(key, ordinal)
        rows.push({ ...entry, milestoneIndex, ordinal, seq: rows.length + 1, branch })
      }
    }
  }

  async function prune(milestones: number): Promise<void> {
    await write().pruneLog({ milestones, rows: 10_000 })
  }

  function replace(other: Hex): Promise<void> {
    const digits = other.slice(2)
    const bytes = database.url.startsWith('file:') ? `x'${digits}'` : `'\\x${digits}'`
    return onDatabase(database.url, `UPDATE network SET "logId" = ${bytes}`)
  }

  async function rewind(to: number): Promise<void> {
    const kept = rows.filter(({ milestoneIndex }) => milestoneIndex <= to).length
    for (const row of rows.splice(kept)) {
      const key = row.class + row.address
      ordinals.set(key, (ordinals.get(key) ?? 0) - 1)
    }
    slot = to
    history += ', and then another'
    await onDatabase(
      database.url,
      `BEGIN;
      DELETE FROM ledger_updates WHERE seq > ${kept};
      DELETE FROM commitments WHERE slot > ${to};
      COMMIT`,
    )
    await republish(database.url)
    stores.push(await openedStore(database.url))
  }

  function positionAt(seq: number): LogPosition {
    return { seq, branch: seq === 0 ? noBranch : (rows[seq - 1]?.branch ?? '0x0000000000ff') }
  }

  async function close(): Promise<void> {
    for (const one of stores) await one.close()
    await database.remove()
  }

  return {
    store,
    logId,
    rows,
    url: database.url,
    slot: () => slot,
    commit,
    prune,
    replace,
    rewind,
    positionAt,
    cursorAt: (seq) => encodeCursor({ logId, ...positionAt(seq) }),
    close,
  }
}

export function rowsOf(
  rows: readonly ModelRow[],
  address: Hex,
  updateClass: UpdateClass,
): ModelRow[] {
  return rows.filter((row) => row.address === address && row.class === updateClass)
}

/** Addresses with a few, many and no updates. */
export const addresses: readonly Hex[] = ['a1', 'b2', 'c3', 'd4'].map(
  (byte): Hex => `0x00${byte.repeat(32)}`,
)

/** The entries of one slot, in any order. They use few transaction ids, and indices on both sides of a byte boundary. */
export const slotEntries: fc.Arbitrary<LogEntry[]> = fc.uniqueArray(
  fc.record({
    // The last address never has an update.
    address: fc.constantFrom(...addresses.slice(0, -1)),
    class: fc.constantFrom<UpdateClass>('OWNED', 'OWNED', 'MENTIONED'),
    roles: fc.constant(['OWNER'] as const),
    outputId: fc
      .tuple(fc.constantFrom('11', '9f', 'f0'), fc.constantFrom(0, 1, 2, 255, 256, 257))
      .map(([byte, index]) => outputIdOf(byte, index)),
    isSpent: fc.boolean(),
  }),
  { maxLength: 12, selector: (entry) => [entry.address, entry.outputId, entry.isSpent].join() },
)

/** An output id from the byte that its transaction id repeats, and an index, which it contains in little-endian order. */
export function outputIdOf(byte: string, index: number): OutputId {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(index)
  return `0x${byte.repeat(36)}${bytes.toString('hex')}` as OutputId
}

/** Sorts the entries of a milestone: by transaction, index, created before spent, OWNED before MENTIONED, and address. */
export function sortEntries(entries: readonly LogEntry[]): LogEntry[] {
  const byKeys = (a: LogEntry, b: LogEntry) =>
    compare(a.outputId.slice(0, 74), b.outputId.slice(0, 74)) ||
    indexOf(a.outputId) - indexOf(b.outputId) ||
    Number(a.isSpent) - Number(b.isSpent) ||
    compare(b.class, a.class) ||
    compare(a.address, b.address)
  return entries.toSorted(byKeys)
}

function indexOf(outputId: OutputId): number {
  return Buffer.from(outputId.slice(74), 'hex').readUInt16LE()
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** The commitment id of a slot of the log, different for each name of a history. The first history has the name `first`. */
export function commitmentIdAt(slot: number, history: string): CommitmentId {
  const bytes = Buffer.alloc(36)
  bytes.write(hash('sha256', `${slot} ${history}`), 'hex')
  bytes.writeUInt32LE(slot, 32)
  return `0x${bytes.toString('hex')}` as CommitmentId
}

function commitOf(slot: number, entries: readonly LogEntry[], history: string) {
  const commitmentId = commitmentIdAt(slot, history)
  return { slot, commitmentId, bytes: new Uint8Array(89), entries, accounts: [], epochs: [] }
}

/** Returns the value of a result; an error fails the test. */
export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`a success, not ${JSON.stringify(result)}`)
  return result.value
}

/** The parameters of the fixed log, which determine the times of its slots. */
export const fixedParameters = {
  ...developmentParameters(0),
  genesisSlot: 0,
  genesisUnixTimestamp: 1_700_000_000n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
}

/** The number of slots of the fixed log. */
export const fixedSlots = 24

/** Opens a store with a fixed log of `fixedSlots` slots, for tests with random requests. */
export async function openFixedLog(): Promise<LogStore> {
  const log = await openLogStore()
  const length = { minLength: fixedSlots, maxLength: fixedSlots }
  const [entries] = fc.sample(fc.array(slotEntries, length), { seed: 20, numRuns: 1 })
  await log.commit(...(entries ?? []))
  return log
}

/** Lists the blocks, transactions and outputs that were booked in a range of slots. */
export async function contentsOf(store: Store, from: number, to: number): Promise<SlotContents> {
  const [blocks, transactions]: [SlotBlock[], SlotTransaction[]] = [[], []]
  const [created, spent]: [OutputRow[], OutputRow[]] = [[], []]
  await store.write.readSlots(from, to, {
    block: (one) => blocks.push(one),
    transaction: (one) => transactions.push(one),
    created: (one) => created.push(one),
    spent: (one) => spent.push(one),
  })
  return { blocks, transactions, created, spent }
}
