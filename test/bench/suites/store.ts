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
 * Measures the store as the log grows: pages, commits, and the cost of Prisma. `BENCH_ROWS` is the maximum size of the log,
 * `BENCH_DATABASE_URL` names a PostgreSQL server to use instead of a new one, and `BENCH_DATABASE` selects one of the two databases.
 */

const sizes = [10_000, 1_000_000, 10_000_000].filter(
  (size) => size <= Number(process.env.BENCH_ROWS ?? 10_000_000),
)
const only = process.env.BENCH_DATABASE

/** Prints the tables of both databases. */
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

/** Creates a database of each size, and then measures them in alternation, because the machine may be busy with other work. */
async function measure(urlFor: (size: number) => Promise<string>): Promise<void> {
  const subjects: Subject[] = []
  for (const size of sizes) subjects.push(await growSubject(await urlFor(size), { size }))
  const kind = subjects[0]?.database.kind
  const large = subjects.filter(({ size }) => size > 10_000)
  console.log(`\n${kind}: pages at random positions, median`)
  printTable(await pageTimes(large))
  console.log(`\n${kind}: a page of 100 of an address, median`)
  printTable([['rows', '$queryRaw', 'bare driver', 'ratio'], ...(await rawTable(large))])
  console.log(`\n${kind}: commits of slots of ${transfers} transfers`)
  printTable(await commitTimes(subjects))
  console.log()
  for (const subject of subjects) await subject.close()
}

async function rawTable(subjects: readonly Subject[]): Promise<string[][]> {
  const table: string[][] = []
  for (const subject of subjects) table.push(await rawTimes(subject))
  return table
}

/** Measures the same statement by Prisma and by the driver, in alternation, at the same positions. */
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
  const [ofPrisma, ofDriver] = [median(prisma), median(driver)]
  return [
    `${size}`,
    milliseconds(ofPrisma),
    milliseconds(ofDriver),
    (ofPrisma / ofDriver).toFixed(2),
  ]
}
