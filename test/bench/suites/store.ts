import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { Client } from 'pg'
import { present } from '../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../src/lib/hex.ts'
import type { Database } from '../../../src/store/connect.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import type { LedgerUpdate } from '../../../src/store/rows.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { busyAddress, growLog } from '../large-log.ts'
import { median, printTable, waitedMs } from '../measure.ts'
import { bookSlot, createTransfers, type Population, transfers, unwrap } from '../transfers.ts'

/**
 * How the store does as the log grows: pages, commits, and what Prisma costs. `BENCH_ROWS` ends the growth earlier,
 * `BENCH_DATABASE_URL` is another PostgreSQL than one started here, and `BENCH_DATABASE` measures one of the two alone.
 */

const sizes = [10_000, 1_000_000, 10_000_000].filter(
  (size) => size <= Number(process.env.BENCH_ROWS ?? 10_000_000),
)
/** As on a small server of its own: what the defaults leave to the operator. */
const serverSettings = ['shared_buffers=1GB', 'max_wal_size=4GB']

const only = process.env.BENCH_DATABASE

const log = { info: () => {} }

/** Prints a table for each question, of both databases. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const given = process.env.BENCH_DATABASE_URL
  const server = given === undefined ? await startPostgresql(serverSettings) : undefined
  try {
    if (only !== 'postgresql') await measure(`file:${join(folder, 'bench.db')}`)
    if (only !== 'sqlite') await measure(present(given ?? server?.url, 'a URL'))
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
}

async function measure(url: string): Promise<void> {
  const subject = await openSubject(url)
  const { kind } = subject.database
  const commits: string[][] = [
    ['rows', 'owners', 'slot ms', 'of it waiting', 'log rows a second', 'longest slot ms'],
  ]
  const pages: string[][] = [['rows', 'of the log: 20', '100', 'of an address: 20', '100']]
  const raw: string[][] = [['rows', '$queryRaw', 'bare driver', 'ratio']]
  let rows = 1
  for (const size of sizes) {
    const begun = performance.now()
    const slot = (await subject.store.read.logTip()).slot + 1
    rows = (await subject.store.read.logTip()).seq
    await growLog(subject.database, { from: rows + 1, to: size, slot })
    await subject.settle()
    console.log(`${kind}: ${size} rows after ${seconds(performance.now() - begun)}`)
    if (size > 10_000) {
      pages.push([`${size}`, ...(await pageTimes(subject, size))])
      raw.push([`${size}`, ...(await rawTimes(subject, size))])
    }
    for (const owners of ['few', 'many'] as const) {
      commits.push([`${size}`, owners, ...(await commitTimes(subject, size, owners))])
    }
  }
  console.log(`\n${kind}: committing slots of ${transfers} transfers`)
  printTable(commits)
  console.log(`\n${kind}: pages at random places, median`)
  printTable(pages)
  console.log(`\n${kind}: a page of 100 of an address, median`)
  printTable(raw)
  console.log()
  await subject.close()
}

/** A store with a founded ledger, and ways past it. */
interface Subject {
  readonly store: Store
  readonly database: Database
  readonly term: number
  /** Runs a page of an address on the driver alone. */
  bare(address: Hex, after: number): Promise<unknown>
  /** Lets the database do what it does after much writing. */
  settle(): Promise<void>
  close(): Promise<void>
}

async function openSubject(url: string): Promise<Subject> {
  const store = unwrap(await openStore({ url, log }))
  const database = unwrap(await openDatabase({ url, log }))
  const lease = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  unwrap(await store.write.found(lease.term, testGenesis()))
  const { bare, close } = await openBare(url)
  return {
    store,
    database,
    term: lease.term,
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

const pageSql = (parameters: readonly [string, string]) => `
  SELECT seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", chain
  FROM ledger_updates WHERE address = ${parameters[0]} AND class = 0 AND seq > ${parameters[1]}
  ORDER BY seq LIMIT 100`

async function openBare(url: string) {
  if (url.startsWith('file:')) {
    const connection = new Sqlite(url.slice('file:'.length), { readonly: true })
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

const slotsMeasured = 12

/**
 * Time of a commit alone: what was accepted and booked before waits only to be made final. How much of it the thread
 * waited for a core is told beside it, for on a busy machine that may be most.
 */
async function commitTimes(
  { store, term }: Subject,
  size: number,
  population: Population,
): Promise<string[]> {
  const source = createTransfers(size, population)
  const times: number[] = []
  const waits: number[] = []
  let rows = 0
  for (let n = 0; n < slotsMeasured + warmUp; n++) {
    const slot = await bookSlot({ store, term }, source)
    const waited = waitedMs()
    const begun = performance.now()
    await slot.commit()
    if (n >= warmUp) {
      times.push(performance.now() - begun)
      waits.push(waitedMs() - waited)
    }
    rows = slot.rows
  }
  const time = median(times)
  return [
    time.toFixed(1),
    median(waits).toFixed(1),
    `${Math.round((1_000 * rows) / time)}`,
    Math.max(...times).toFixed(1),
  ]
}

/** The first slot has nothing to spend. */
const warmUp = 2

/** Medians, each page somewhere else. */
async function pageTimes({ store }: Subject, size: number): Promise<string[]> {
  const medians: string[] = []
  for (const address of [undefined, busyAddress]) {
    for (const limit of [20, 100]) {
      const times: number[] = []
      for (let n = 0; n < samples; n++) {
        const after = Math.floor(Math.random() * size * 0.99)
        const before = Number.MAX_SAFE_INTEGER
        const place = { after, before, limit, order: 'ascending', classes: ['OWNED'] } as const
        const begun = performance.now()
        const rows: LedgerUpdate[] = await store.read.updates(
          address === undefined ? place : { ...place, address },
        )
        times.push(performance.now() - begun)
        if (rows.length !== limit) throw new Error(`a page of ${rows.length} rows, not ${limit}`)
      }
      medians.push(milliseconds(median(times)))
    }
  }
  return medians
}

/** The same statement by Prisma and by the driver, in turns, at the same places. */
async function rawTimes({ database, bare }: Subject, size: number): Promise<string[]> {
  const parameters = database.kind === 'sqlite' ? (['?', '?'] as const) : (['$1', '$2'] as const)
  const sql = pageSql(parameters)
  const address = hexToBytes(busyAddress)
  const prisma: number[] = []
  const driver: number[] = []
  for (let n = 0; n < samples; n++) {
    const after = Math.floor(Math.random() * size * 0.99)
    const begun = performance.now()
    await database.reader.$queryRawUnsafe(sql, address, after)
    const between = performance.now()
    await bare(busyAddress, after)
    prisma.push(between - begun)
    driver.push(performance.now() - between)
  }
  const [ours, theirs] = [median(prisma), median(driver)]
  return [milliseconds(ours), milliseconds(theirs), (ours / theirs).toFixed(2)]
}

const samples = 500

function milliseconds(time: number): string {
  return `${time.toFixed(2)} ms`
}

function seconds(timeMs: number): string {
  return `${(timeMs / 1_000).toFixed(1)} s`
}
