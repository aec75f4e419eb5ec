import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import type { Database } from '../../../src/store/database.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { growLog } from '../large-log.ts'
import { printTable } from '../measure.ts'
import { measurePartitions } from '../scale/partitions.ts'
import { measureStandby } from '../scale/replica.ts'
import { type Size, sizesOf, totalSize } from '../scale/sizes.ts'
import { bookSlot, createTransfers, transfers, unwrap } from '../transfers.ts'

/**
 * Measures what grows with a ledger, for `docs/scale.md`: the size of rows, the partitioned log of PostgreSQL, and a standby.
 * `BENCH_ROWS` is the number of rows of the log; sizes are measured at each size of the document up to it.
 */

const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
const sizes = [10_000, 1_000_000, 10_000_000].filter((size) => size <= rows)
const log = silentLog

/** Prints the tables. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const server = await startPostgresql(['shared_buffers=1GB', 'max_wal_size=4GB'])
  try {
    await measureSizes(`file:${join(folder, 'sizes.db')}`)
    await measureSizes(await databaseOn(server.url, 'sizes'))
    const opened = unwrap(
      await openDatabase({ url: await databaseOn(server.url, 'partitions'), log }),
    )
    await measurePartitions(opened, rows)
    await opened.close()
    await onServer(server.url, 'DROP DATABASE partitions')
    await measureStandby(await databaseOn(server.url, 'replicated'), Math.min(rows, 1_000_000))
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

async function databaseOn(url: string, name: string): Promise<string> {
  await onServer(url, `CREATE DATABASE ${name}`)
  return databaseUrl(url, name)
}

/** Measures the size of the log as it grows, and then the growth of every table by slots of transfers. */
async function measureSizes(url: string): Promise<void> {
  const store = unwrap(await openStore({ url, log }))
  const database = unwrap(await openDatabase({ url, log }))
  const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  unwrap(await store.write.initialize(term, testGenesis()))
  const table = [['rows of the log', 'row', 'key', 'index by addresses', 'all', 'whole database']]
  let grown = 1
  for (const size of sizes) {
    const slot = (await store.read.logTip()).slot + 1
    await growLog(database, { from: grown + 1, to: size, slot })
    grown = size
    await settle(database)
    const total = Math.round((await totalSize(database, url)) / 1e6)
    table.push([`${size}`, ...(await bytesPerRow(database, size)), `${total} MB`])
  }
  console.log(`\n${database.kind}: bytes per row`)
  printTable(table)

  const before = await sizesOf(database)
  const source = createTransfers(grown, 'many')
  for (let n = 0; n < slotsMeasured; n++) await (await bookSlot({ store, term }, source)).commit()
  await settle(database)
  console.log(`\n${database.kind}: bytes per transfer, with indexes`)
  printTable(growthOf(before, await sizesOf(database)))
  await database.close()
  await store.close()
}

const slotsMeasured = 10

/** The bytes per row of the log: the row, its key, the index by addresses, and all three. */
async function bytesPerRow(database: Database, rows: number): Promise<string[]> {
  const own = (await sizesOf(database)).filter(({ table }) => table === 'ledger_updates')
  const kinds = [0, 0, 0]
  for (const { name, bytes } of own) {
    const kind = name === 'ledger_updates' ? 0 : name.includes('address') ? 2 : 1
    kinds[kind] = (kinds[kind] ?? 0) + bytes
  }
  const all = kinds.reduce((sum, bytes) => sum + bytes, 0)
  return [...kinds, all].map((bytes) => (bytes / rows).toFixed(0))
}

/** The growth of each table per transfer, in descending order. */
function growthOf(before: readonly Size[], after: readonly Size[]): string[][] {
  const byTable = new Map<string, number>()
  for (const [sizes, sign] of [[before, -1] as const, [after, 1] as const]) {
    for (const { table, bytes } of sizes) {
      byTable.set(table, (byTable.get(table) ?? 0) + sign * bytes)
    }
  }
  const each = [...byTable].map(([name, bytes]): [string, number] => [
    name,
    bytes / (slotsMeasured * transfers),
  ])
  each.sort(([, a], [, b]) => b - a)
  each.push(['all', each.reduce((sum, [, bytes]) => sum + bytes, 0)])
  const shown = each.filter(([, bytes]) => bytes >= 1)
  return [['table', 'bytes'], ...shown.map(([name, bytes]) => [name, bytes.toFixed(0)])]
}

async function settle({ kind, writer }: Database): Promise<void> {
  const sql = kind === 'sqlite' ? 'PRAGMA wal_checkpoint(TRUNCATE)' : 'VACUUM ANALYZE'
  await writer.$queryRawUnsafe(sql)
}
