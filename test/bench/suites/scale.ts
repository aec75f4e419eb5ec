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
 * What grows with a ledger, for `docs/scale.md`: the room that rows take, the log of PostgreSQL in parts, and a standby.
 * `BENCH_ROWS` is how many rows the log has; sizes are told of all powers of ten below it that the document has.
 */

const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
const sizes = [10_000, 1_000_000, 10_000_000].filter((size) => size <= rows)
const log = silentLog

/** Prints a table for each question. */
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

/** Of the log as it grows; then of what slots of transfers leave in every table. */
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
  console.log(`\n${database.kind}: bytes for each row`)
  printTable(table)

  const before = await sizesOf(database)
  const source = createTransfers(grown, 'many')
  for (let n = 0; n < slotsMeasured; n++) await (await bookSlot({ store, term }, source)).commit()
  await settle(database)
  console.log(`\n${database.kind}: bytes that a transfer leaves, with indexes`)
  printTable(growthOf(before, await sizesOf(database)))
  await database.close()
  await store.close()
}

const slotsMeasured = 10

/** Of the log: the row, its key, the index by addresses, and all. */
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

/** How much each table has grown with every transfer, those that have grown most first. */
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
  const told = each.filter(([, bytes]) => bytes >= 1)
  return [['table', 'bytes'], ...told.map(([name, bytes]) => [name, bytes.toFixed(0)])]
}

async function settle({ kind, writer }: Database): Promise<void> {
  const sql = kind === 'sqlite' ? 'PRAGMA wal_checkpoint(TRUNCATE)' : 'VACUUM ANALYZE'
  await writer.$queryRawUnsafe(sql)
}
