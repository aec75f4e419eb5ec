import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { type Folder, makeFolder } from '../../support/program.ts'
import { type GraphLedger, makeGraphLedger } from '../graph/ledger.ts'
import { measurePages } from '../graph/pages.ts'
import { addPlainTables } from '../graph/plain-tables.ts'
import { installPeers } from '../graphql/servers.ts'

/** Compares the pages of an explorer by GraphQL with an explorer of the same ledger that uses Prisma's plugin for Pothos. */

const help = `npm run bench -- graph [--short] [--database sqlite|postgresql] [--transactions N] [--rounds N] [--only NAME]
  [--keep FOLDER]

Creates a ledger with every kind of output on SQLite, and moves it to PostgreSQL by export and import. Requests the documents of
docs/examples/explorer, without the fields that one of the servers lacks, from the built gateway (npm run build) and from an
explorer of Pothos with Prisma's plugin, in alternation on 16 connections. Compares their responses first. Prints the processor
time of each server per request, and the latency of the gateway. Each request has a different text, so that no response is cached;
"again" is the gateway with the same text in each request, as visitors of one page send it.

--short     uses a ledger of 10^4 transactions instead of 10^6, and three rounds instead of seven
--database  measures only one of the two databases
--only      measures only one of the documents
--keep      keeps the ledger in this folder; later runs with the same folder use it again`

/** Prints the table of each database. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      database: { type: 'string' },
      transactions: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      keep: { type: 'string' },
    },
  })
  if (values.help) return console.log(help)
  installPeers()
  const { short, only, keep, database } = values
  const options = {
    rounds: Number(values.rounds ?? (short ? 3 : 7)),
    ms: short ? 700 : 1_500,
    only,
  }
  const transactions = Number(values.transactions ?? (short ? 10_000 : 1_000_000))
  const folder = keep === undefined ? makeFolder() : keptFolder(keep)
  try {
    const ledger = await ledgerOf(folder, transactions)
    if (database !== 'postgresql') await measurePages(ledger, options)
    if (database === 'sqlite') return
    const server = await startPostgresql(['shared_buffers=1GB', 'max_wal_size=4GB', 'fsync=off'])
    try {
      await measurePages(await movedTo(server.url, ledger, folder), options)
    } finally {
      await server.stop()
    }
  } finally {
    folder.remove()
  }
}

type LedgerFolder = Pick<Folder, 'databaseFile' | 'databaseUrl'>

/** The ledger on SQLite that a former run kept in a folder, or a new one. */
async function ledgerOf(
  { databaseFile, databaseUrl }: LedgerFolder,
  transactions: number,
): Promise<GraphLedger> {
  const note = `${databaseFile}.json`
  if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8'))
  const begun = performance.now()
  const ledger = await makeGraphLedger(databaseUrl, `${databaseFile}.key`, transactions)
  await addPlainTables(databaseUrl, ledger.lastSlot)
  console.log(`created ${ledger.transactions} transactions in ${secondsSince(begun)} s\n`)
  writeFileSync(note, JSON.stringify(ledger))
  return ledger
}

/** Moves the ledger to PostgreSQL by the commands of an operator; creating it there would take several times as long. */
async function movedTo(
  url: string,
  ledger: GraphLedger,
  { databaseFile }: LedgerFolder,
): Promise<GraphLedger> {
  const begun = performance.now()
  const file = `${databaseFile}.export`
  rmSync(file, { force: true })
  for (const [command, database] of [
    ['export', ledger.url],
    ['import', url],
  ] as const) {
    const words = ['dist/main.js', command, '--database', database, '--file', file]
    const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`${command} ended with ${status}`)
  }
  rmSync(file)
  await addPlainTables(url, ledger.lastSlot)
  console.log(`moved to PostgreSQL in ${secondsSince(begun)} s\n`)
  return { ...ledger, url, env: { ...ledger.env, DATABASE_URL: url } }
}

function secondsSince(begun: number): string {
  return ((performance.now() - begun) / 1_000).toFixed(0)
}

function keptFolder(path: string) {
  mkdirSync(path, { recursive: true })
  const databaseFile = resolve(path, 'ledger.db')
  return { databaseFile, databaseUrl: `file:${databaseFile}`, remove: () => {} }
}
