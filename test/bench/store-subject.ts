import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { silentLog as log } from '../../src/lib/log.ts'
import type { Store } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase, openStore } from '../../src/store/open.ts'
import type { LedgerUpdate } from '../../src/store/rows.ts'
import { testGenesis } from '../support/store-rows.ts'
import { busyAddress, growLog } from './large-log.ts'
import { median, waitedMs } from './measure.ts'
import { bookSlot, createTransfers, transfers, unwrap } from './transfers.ts'

/** Measures stores with large logs in alternation: pages at random positions, and commits of large slots. */

/** PostgreSQL settings for a small dedicated server, which operators have to set. */
export const serverSettings = ['shared_buffers=1GB', 'max_wal_size=4GB']

/** Creates a log of `size` rows; `name` is its name in the tables. */
export async function growSubject(
  url: string,
  { size, name = String(size) }: { readonly size: number; readonly name?: string },
): Promise<Subject> {
  const begun = performance.now()
  const subject = await openSubject(url, size, name)
  await growLog(subject.database, { from: 2, to: size, slot: 1 })
  await subject.settle()
  const time = `${((performance.now() - begun) / 1_000).toFixed(1)} s`
  console.log(`${subject.database.kind}: created ${size} rows in ${time}`)
  return subject
}

/** A store with an initialized ledger, and direct access to its database. */
export interface Subject {
  readonly name: string
  readonly size: number
  readonly store: Store
  readonly database: Database
  readonly term: number
  /** The ids of the server processes that work for the store, if they are on this machine. */
  readonly servers: readonly number[]
  /** Reads a page of an address by the driver alone. */
  bare(address: Hex, after: number): Promise<unknown>
  /** Makes the database do its maintenance after many writes. */
  settle(): Promise<void>
  close(): Promise<void>
}

async function openSubject(url: string, size: number, name: string): Promise<Subject> {
  const store = unwrap(await openStore({ url, log }))
  const database = unwrap(await openDatabase({ url, log }))
  const lease = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  unwrap(await store.write.initialize(lease.term, testGenesis()))
  const { bare, close } = await openBare(url)
  return {
    name,
    size,
    store,
    database,
    term: lease.term,
    servers: await serversOf(database),
    bare,
    settle: async () => {
      const sql = database.kind === 'sqlite' ? 'PRAGMA wal_checkpoint(TRUNCATE)' : 'VACUUM ANALYZE'
      await database.writer.$queryRawUnsafe(sql)
      if (database.kind === 'postgresql') await database.writer.$queryRawUnsafe('CHECKPOINT')
    },
    close: async () => {
      await close()
      await database.close()
      await store.close()
    },
  }
}

async function serversOf({ kind, writer }: Database): Promise<number[]> {
  if (kind === 'sqlite') return []
  const rows = await writer.$queryRawUnsafe<{ pid: number }[]>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
  )
  return rows.map(({ pid }) => pid)
}

/** The statement for a page of 100 rows of an address, with the parameter markers of the driver. */
export const pageSql = (parameters: readonly [string, string]) => `
  SELECT seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash"
  FROM ledger_updates WHERE address = ${parameters[0]} AND class = 0 AND seq > ${parameters[1]}
  ORDER BY seq LIMIT 100`

async function openBare(url: string) {
  if (url.startsWith('file:')) {
    const connection = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
    const page = connection.prepare(pageSql(['?', '?']))
    return {
      bare: async (address: Hex, after: number) => page.all(hexToBytes(address), after),
      close: async () => void connection.close(),
    }
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  const text = pageSql(['$1', '$2'])
  return {
    bare: async (address: Hex, after: number) =>
      client.query({ text, values: [hexToBytes(address), after], rowMode: 'array' }),
    close: () => client.end(),
  }
}

const slotsMeasured = 16

/** The number of unmeasured slots. The first slot has no outputs to spend. */
const warmUp = 2

/**
 * The time of a commit alone; the slot is accepted and booked before. A separate column has the time that its processes waited for
 * a core, which may be most of it on a busy machine. The rows per second and the comparison of sizes exclude that time.
 */
export async function commitTimes(subjects: readonly Subject[]): Promise<string[][]> {
  const table = [
    [
      'log',
      'owners',
      'slot ms',
      'waiting ms',
      'without waiting',
      'log rows per second',
      'to the first',
    ],
  ]
  for (const population of ['few', 'many'] as const) {
    const rows = subjects.map((subject) => ({
      subject,
      source: createTransfers(subject.size, population),
      times: [] as number[],
      waits: [] as number[],
    }))
    for (let n = 0; n < slotsMeasured + warmUp; n++) {
      for (const { subject, source, times, waits } of rows) {
        const slot = await bookSlot(subject, source)
        const waited = waitedMs(subject.servers)
        const begun = performance.now()
        await slot.commit()
        if (n < warmUp) continue
        times.push(performance.now() - begun)
        waits.push(waitedMs(subject.servers) - waited)
      }
    }
    const awake = rows.map(({ times, waits }) =>
      median(times.map((time, i) => time - (waits[i] ?? 0))),
    )
    for (const [i, { subject, times, waits }] of rows.entries()) {
      const time = median(times)
      table.push([
        subject.name,
        population,
        time.toFixed(1),
        median(waits).toFixed(1),
        (awake[i] ?? 0).toFixed(1),
        `${Math.round((1_000 * 3 * transfers) / (awake[i] ?? 0))}`,
        ((awake[i] ?? 0) / (awake[0] ?? 1)).toFixed(2),
      ])
    }
  }
  return table
}

/** The median times of pages; each page is at a random position. */
export async function pageTimes(subjects: readonly Subject[]): Promise<string[][]> {
  const times = subjects.map(() => questions.map(() => [] as number[]))
  for (let n = 0; n < samples; n++) {
    for (const [i, subject] of subjects.entries()) {
      for (const [k, question] of questions.entries()) {
        times[i]?.[k]?.push(await pageTime(subject, question))
      }
    }
  }
  const medians = times.map((each) => each.map(median))
  return [
    ['log', '20 of the log', '100 of the log', '20 of an address', '100 of an address'],
    ...subjects.map(({ name }, i) => [name, ...(medians[i] ?? []).map(milliseconds)]),
    ['ratio', ...questions.map((_, k) => ratio(medians.map((each) => each[k] ?? 0)))],
  ]
}

const questions = [
  { limit: 20 },
  { limit: 100 },
  { address: busyAddress, limit: 20 },
  { address: busyAddress, limit: 100 },
] as const

async function pageTime(
  { store, size }: Subject,
  question: (typeof questions)[number],
): Promise<number> {
  const after = Math.floor(Math.random() * size * 0.99)
  const before = Number.MAX_SAFE_INTEGER
  const begun = performance.now()
  const rows: LedgerUpdate[] = await store.read.updates({
    ...question,
    after,
    before,
    order: 'ascending',
    classes: ['OWNED'],
  })
  if (rows.length !== question.limit) throw new Error(`a page of ${rows.length} rows`)
  return performance.now() - begun
}

/** The ratio of the last time to the first. */
function ratio(times: readonly number[]): string {
  return ((times.at(-1) ?? 0) / (times[0] ?? 1)).toFixed(2)
}

/** The number of measured pages of each kind. */
export const samples = 500

/** A time in the format of the tables. */
export function milliseconds(time: number): string {
  return `${time.toFixed(2)} ms`
}
