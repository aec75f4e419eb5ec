import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { listLedgerUpdates } from '../../../src/service/updates/list-ledger-updates.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { fixedParameters } from '../../support/log-store.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { addressesFor, addressOf, busyAddress, growLog } from '../large-log.ts'
import { median, printTable } from '../measure.ts'
import { unwrap } from '../transfers.ts'

/**
 * Measures the processor time of this process for a page of an address with its page information, its count and its cursor, as the
 * GraphQL field reads it. `BENCH_DATABASE` selects one of the two databases.
 */

const rows = 100_000
const only = process.env.BENCH_DATABASE

interface MeasuredPage {
  readonly name: string
  readonly address: () => Hex
  readonly first: number
  readonly isContinued: boolean
}

/** The measured pages: the number of rows, the address and the position. */
const pages: readonly MeasuredPage[] = [
  { name: 'newest 20', address: () => busyAddress, first: 20, isContinued: false },
  { name: 'newest 100', address: () => busyAddress, first: 100, isContinued: false },
  { name: '20 after a cursor', address: () => busyAddress, first: 20, isContinued: true },
  { name: '100 after a cursor', address: () => busyAddress, first: 100, isContinued: true },
  { name: 'first 100 of a random address', address: anyAddress, first: 100, isContinued: false },
]

function anyAddress() {
  return addressOf(1 + Math.floor(Math.random() * (addressesFor(rows) - 1)))
}

async function measure(url: string): Promise<void> {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const database = unwrap(await openDatabase({ url, log: silentLog }))
  const lease = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  unwrap(await store.write.initialize(lease.term, testGenesis()))
  await growLog(database, { from: 2, to: rows, slot: 1 })
  if (database.kind === 'postgresql') await database.writer.$queryRawUnsafe('VACUUM ANALYZE')
  const deps = { store, parameters: fixedParameters, mayLag: false }

  async function ask({ address, first, isContinued }: MeasuredPage, after?: string) {
    const question = { address: address(), class: 'OWNED', sort: 'NEWEST', first } as const
    const page = unwrap(
      await listLedgerUpdates(deps, isContinued ? { ...question, after } : question),
    )
    await Promise.all([page.hasNextPage(), page.hasPreviousPage(), page.totalCount()])
    return page.nodes.at(-1)?.cursor
  }

  const table = [[database.kind, 'processor µs', 'minimum']]
  for (const page of pages) {
    const rounds: number[] = []
    for (let round = 0; round < 9; round++) {
      let cursor = await ask(page)
      const times = 200
      const before = process.cpuUsage()
      for (let n = 0; n < times; n++) cursor = await ask(page, cursor)
      const { user, system } = process.cpuUsage(before)
      if (round > 3) rounds.push((user + system) / times)
    }
    table.push([page.name, median(rounds).toFixed(0), Math.min(...rounds).toFixed(0)])
  }
  printTable(table)
  await database.close()
  await store.close()
}

/** Prints a table for each database. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  try {
    if (only !== 'postgresql') await measure(`file:${join(folder, 'pages.db')}`)
    if (only !== 'sqlite') {
      const server = await startPostgresql()
      try {
        await onServer(server.url, 'CREATE DATABASE ledger_gateway_bench_pages')
        await measure(databaseUrl(server.url, 'ledger_gateway_bench_pages'))
      } finally {
        await server.stop()
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
