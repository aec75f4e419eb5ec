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

/** Stores with large logs, measured in turns: pages at random places, and the commit of large slots. */

/** As on a small server of its own: what the defaults leave to the operator. */
export const serverSettings = ['shared_buffers=1GB', 'max_wal_size=4GB']

/** Makes a log of so many rows; `name` is what the tables call it. */
export async function growSubject(
  url: string,
  { size, name = String(size) }: { readonly size: number; readonly name?: string },
): Promise<Subject> {
  const begun = performance.now()
  const subject = await openSubject(url, size, name)
  await growLog(subject.database, { from: 2, to: size, slot: 1 })
  await subject.settle()
  const time = `${((performance.now() - begun) / 1_000).toFixed(1)} s`
  console.log(`${subject.database.kind}: ${size} rows after ${time}`)
  return subject
}

/** A store with a founded ledger, and ways past it. */
export interface Subject {
  readonly name: string
  readonly size: number
  readonly store: Store
  readonly database: Database
  readonly term: number
  /** Processes of the database that work for the store, where they are on this machine. */
  readonly servers: readonly number[]
  /** Runs a page of an address on the driver alone. */
  bare(address: Hex, after: number): Promise<unknown>
  /** Lets the database do what it does after much writing. */
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

/** A page of 100 of an address, with its parameters as the driver writes them. */
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

/** The first slot has nothing to spend. */
const warmUp = 2

/**
 * Time of a commit alone: what was accepted and booked before waits only to be made final. How long its processes waited
 * for a core stands beside it, for on a busy machine that may be most; the rows a second, and how the sizes compare, are
 * without it.
 */
export async function commitTimes(subjects: readonly Subject[]): Promise<string[][]> {
  const table = [
    ['log', 'owners', 'slot ms', 'waiting ms', 'without', 'log rows a second', 'to the first'],
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

/** Medians, each page somewhere else. */
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
    ['log', 'of the log: 20', '100', 'of an address: 20', '100'],
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

/** The last to the first. */
function ratio(times: readonly number[]): string {
  return ((times.at(-1) ?? 0) / (times[0] ?? 1)).toFixed(2)
}

/** Of each kind of page. */
export const samples = 500

/** As the tables have it. */
export function milliseconds(time: number): string {
  return `${time.toFixed(2)} ms`
}
