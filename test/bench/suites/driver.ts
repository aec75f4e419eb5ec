import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LedgerUpdate } from '../../../src/generated/prisma/client.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Database } from '../../../src/store/database.ts'
import { median, printTable } from '../measure.ts'

/**
 * Measures the cost of the SQLite driver and its adapter: the processor time of a page of 20 rows without Prisma and by `findMany`,
 * and of a commit of ten rows. `BENCH_BUILD` names the `dist` of another build to measure.
 */

const build = process.env.BENCH_BUILD
const connect =
  build === undefined
    ? new URL('../../../src/store/connect.ts', import.meta.url)
    : pathToFileURL(`${build}/store/connect.js`)
const rounds = 15
const rows = 20_000

/** Prints the medians over rounds; each round runs all operations. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const { databaseOf } = await import(connect.href)
  const url = `file:${join(folder, 'bench.db')}`
  const opened = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
  const database: Database = opened.value
  try {
    await fill(database)
    const works = worksOn(database)
    const times = works.map(() => [] as number[])
    // The first rounds warm up.
    for (let round = -3; round < rounds; round++) {
      for (const [i, { work, times: repeats }] of works.entries()) {
        const time = await processorTime(work, repeats)
        if (round >= 0) times[i]?.push(time)
      }
    }
    const lines = works.map(({ what }, i) => [what, median(times[i] ?? []).toFixed(0)])
    printTable([['operation', 'processor µs'], ...lines])
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
}

async function fill({ writer }: Database): Promise<void> {
  await writer.$executeRawUnsafe(`
    CREATE TABLE ledger_updates (
      seq BIGINT PRIMARY KEY NOT NULL, address BLOB NOT NULL, class INTEGER NOT NULL, ordinal BIGINT NOT NULL,
      roles INTEGER NOT NULL, "milestoneIndex" BIGINT NOT NULL, "outputId" BLOB NOT NULL,
      "isSpent" BOOLEAN NOT NULL, "historyHash" BLOB NOT NULL, balance BIGINT,
      "isLastOfTransaction" BOOLEAN NOT NULL DEFAULT false)`)
  await writer.$executeRawUnsafe(`
    CREATE INDEX by_address ON ledger_updates (address, class, seq)`)
  await writer.$executeRawUnsafe(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO ledger_updates
    SELECT i, zeroblob(33), 0, i, 1, i / 10, randomblob(38), i % 2, randomblob(32), 1000000000 + i, false FROM n`)
}

function worksOn({ query, reader, writer }: Database) {
  const address = new Uint8Array(33)
  const sql = `SELECT seq, "milestoneIndex", "outputId", "isSpent" FROM ledger_updates
    WHERE address = ? AND class = 0 AND seq >= ? ORDER BY seq LIMIT ?`
  const somewhere = () => 1 + Math.floor(Math.random() * (rows - 20))
  let seq = BigInt(rows)
  const row = (): LedgerUpdate => ({
    seq: ++seq,
    address: new Uint8Array(33).fill(1),
    class: 0,
    ordinal: seq,
    roles: 1,
    milestoneIndex: seq,
    outputId: new Uint8Array(38),
    isSpent: false,
    historyHash: new Uint8Array(32),
    balance: 1_000_000_000n,
    isLastOfTransaction: false,
  })
  const insert = `INSERT INTO ledger_updates SELECT value ->> 0, zeroblob(33), 0, value ->> 0, 1,
    value ->> 0, randomblob(38), 0, randomblob(32), value ->> 0, false FROM json_each(?)`
  return [
    {
      what: 'page of 20 without Prisma',
      times: 500,
      work: () => query(sql, [address, somewhere(), 20]),
    },
    {
      what: 'page of 20 by `findMany`',
      times: 100,
      work: () =>
        reader.ledgerUpdate.findMany({
          where: { address, class: 0, seq: { gte: BigInt(somewhere()) } },
          orderBy: { seq: 'asc' },
          take: 20,
        }),
    },
    {
      what: 'commit of ten rows, one statement',
      times: 50,
      work: () =>
        writer.$transaction(async (tx) => {
          const seqs = Array.from({ length: 10 }, () => [Number(++seq)])
          await tx.$executeRawUnsafe(insert, JSON.stringify(seqs))
        }),
    },
    {
      what: 'commit of ten rows, ten statements',
      times: 20,
      work: () =>
        writer.$transaction(async (tx) => {
          for (let i = 0; i < 10; i++) await tx.ledgerUpdate.create({ data: row() })
        }),
    },
  ]
}

/** The processor time of all threads per call, over `times` calls, in microseconds. */
async function processorTime(work: () => Promise<unknown>, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}
