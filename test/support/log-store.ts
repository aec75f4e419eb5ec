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

/** A real store on a temporary file with a log that a test writes slot by slot, and a plain array of what it wrote. */
export interface LogStore {
  readonly store: Store
  /** 8 bytes. */
  readonly logId: Hex
  /** Every row written so far, in the order of the log; `chain` is left out, the array cannot know it. */
  readonly rows: ModelRow[]
  /** Of its database. */
  readonly url: string
  /** The newest committed slot. */
  slot(): number
  /** Commits the next slots, one per list of entries. */
  commit(...slots: (readonly LogEntry[])[]): Promise<void>
  /** Gives up the updates of all but so many milestones; `rows` still has them. */
  prune(milestones: number): Promise<void>
  /** Makes it another log, as if another database had been put in its place. */
  replace(epoch: Hex): Promise<void>
  /** Takes it back to a slot, as if a copy of then had been put in its place; what is committed next is another history. */
  rewind(slot: number): Promise<void>
  /** A position of this log; of one that it does not reach the branch is nobody's. */
  positionAt(seq: number): LogPosition
  /** The cursor of a position. */
  cursorAt(seq: number): string
  close(): Promise<void>
}

/** A row of the log as the naive model knows it. */
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
  /** The last one writes: those before it would not, in a database that lacks what they have seen. */
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

/** The rows of one address and class. */
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

/** The entries of one slot, in any order. Few transactions with high indices, so that outputs are close to each other. */
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

/** An output id from the byte its transaction id is made of; the index is written little endian. */
export function outputIdOf(byte: string, index: number): OutputId {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(index)
  return `0x${byte.repeat(36)}${bytes.toString('hex')}` as OutputId
}

/** The order inside a milestone, written out: transaction, index, created first, OWNED first, address. */
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

/** A commitment that is like no other, as those of ledgers are. */
/** The id that a log under test gives to a slot; histories of other names have other ids. The first is called `first`. */
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

/** The value of something that must not fail here. */
export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`a success, not ${JSON.stringify(result)}`)
  return result.value
}

/** The times of its slots. */
export const fixedParameters = {
  ...developmentParameters(0),
  genesisSlot: 0,
  genesisUnixTimestamp: 1_700_000_000n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
}

/** The slots of the fixed log. */
export const fixedSlots = 24

/** Opens a store with one fixed log of that many slots, for tests where the questions are what varies. */
export async function openFixedLog(): Promise<LogStore> {
  const log = await openLogStore()
  const length = { minLength: fixedSlots, maxLength: fixedSlots }
  const [entries] = fc.sample(fc.array(slotEntries, length), { seed: 20, numRuns: 1 })
  await log.commit(...(entries ?? []))
  return log
}

/** What was booked into some slots, as lists. */
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
