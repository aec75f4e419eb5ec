import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../../src/lib/assert.ts'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { busyAddress } from '../large-log.ts'
import { median, printTable } from '../measure.ts'
import {
  commitTimes,
  growSubject,
  milliseconds,
  pageSql,
  pageTimes,
  type Subject,
  samples,
  serverSettings,
} from '../store-subject.ts'
import { transfers } from '../transfers.ts'

/**
 * How the store does as the log grows: pages, commits, and what Prisma costs. `BENCH_ROWS` ends the growth earlier,
 * `BENCH_DATABASE_URL` is another PostgreSQL than one started here, and `BENCH_DATABASE` measures one of the two alone.
 */

const sizes = [10_000, 1_000_000, 10_000_000].filter(
  (size) => size <= Number(process.env.BENCH_ROWS ?? 10_000_000),
)
const only = process.env.BENCH_DATABASE

/** Prints a table for each question, of both databases. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const given = process.env.BENCH_DATABASE_URL
  const server = given === undefined ? await startPostgresql(serverSettings) : undefined
  const serverUrl = present(given ?? server?.url, 'a URL')
  try {
    if (only !== 'postgresql') {
      await measure(async (size) => `file:${join(folder, `bench-${size}.db`)}`)
    }
    if (only !== 'sqlite') {
      await measure(async (size) => {
        await onServer(serverUrl, `CREATE DATABASE ledger_gateway_bench_${size}`)
        return databaseUrl(serverUrl, `ledger_gateway_bench_${size}`)
      })
    }
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Grows a database for each size first, and then measures them in turns: the machine may be busy with other work. */
async function measure(urlFor: (size: number) => Promise<string>): Promise<void> {
  const subjects: Subject[] = []
  for (const size of sizes) subjects.push(await growSubject(await urlFor(size), { size }))
  const kind = subjects[0]?.database.kind
  const large = subjects.filter(({ size }) => size > 10_000)
  console.log(`\n${kind}: pages at random places, median`)
  printTable(await pageTimes(large))
  console.log(`\n${kind}: a page of 100 of an address, median`)
  printTable([['rows', '$queryRaw', 'bare driver', 'ratio'], ...(await rawTable(large))])
  console.log(`\n${kind}: committing slots of ${transfers} transfers`)
  printTable(await commitTimes(subjects))
  console.log()
  for (const subject of subjects) await subject.close()
}

async function rawTable(subjects: readonly Subject[]): Promise<string[][]> {
  const table: string[][] = []
  for (const subject of subjects) table.push(await rawTimes(subject))
  return table
}

/** The same statement by Prisma and by the driver, in turns, at the same places. */
async function rawTimes({ database, bare, size }: Subject): Promise<string[]> {
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
  return [`${size}`, milliseconds(ours), milliseconds(theirs), (ours / theirs).toFixed(2)]
}
