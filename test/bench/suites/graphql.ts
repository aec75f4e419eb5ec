import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder } from '../../support/program.ts'
import { type LargeLedger, makeLedger } from '../graphql/data.ts'
import { compareAnswers, load, type Measured } from '../graphql/load.ts'
import { ours, type Peer, peers } from '../graphql/peers.ts'
import { installPeers, type Server, startSender, startServer } from '../graphql/servers.ts'
import { type Column, printResults, type Results, tables } from '../graphql/tables.ts'

/** The pages of the log by GraphQL, beside other servers of the same rows that `test/bench/peers` has. */

const help = `npm run bench -- graphql [--short] [--database sqlite|postgresql] [--rows N] [--rounds N] [--only TEXT]

Asks the built gateway (npm run build) and its peers for pages of the updates of an address, in turns, and prints the
processor time of the server for a request, in microseconds, and the requests a second. Their answers are compared first.

--short     a log of 10^5 rows in place of 10^6, three rounds in place of seven, and fewer questions: some five minutes
--database  one of the two alone
--only      the columns whose head has this text, of the full run`

interface Options {
  readonly isShort: boolean
  readonly rounds: number
  readonly isAsked: (column: Column) => boolean
}

/** Prints the tables of each database. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      database: { type: 'string' },
      rows: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
    },
  })
  if (values.help) return console.log(help)
  installPeers()
  const isShort = values.short
  const options = {
    isShort,
    rounds: Number(values.rounds ?? (isShort ? 3 : 7)),
    isAsked: ({ head, short }: Column) =>
      values.only === undefined ? short === true || !isShort : head.includes(values.only),
  }
  const rows = Number(values.rows ?? (isShort ? 100_000 : 1_000_000))
  if (values.database !== 'postgresql') {
    const folder = makeFolder()
    try {
      await measure(
        'SQLite',
        await makeLedger(folder.databaseUrl, `${folder.databaseFile}.key`, rows),
        options,
      )
    } finally {
      folder.remove()
    }
  }
  if (values.database !== 'sqlite') {
    const folder = makeFolder()
    const server = await startPostgresql(['shared_buffers=1GB', 'max_wal_size=4GB', 'fsync=off'])
    try {
      await measure(
        'PostgreSQL',
        await makeLedger(server.url, `${folder.databaseFile}.key`, rows),
        options,
      )
    } finally {
      await server.stop()
      folder.remove()
    }
  }
}

async function measure(database: string, ledger: LargeLedger, options: Options): Promise<void> {
  const there = peers.filter((peer) => database === 'PostgreSQL' || !peer.onlyPostgresql)
  const servers = new Map<Peer, Server>()
  try {
    const start = async (peer: Peer) => void servers.set(peer, await startServer(peer, ledger))
    // Whoever has started is ended below, also if another one has not.
    const failure = (await Promise.allSettled(there.map(start))).find(isRejected)
    if (failure !== undefined) throw failure.reason
    const asked = tables.flat().filter(options.isAsked)
    const columns = asked.filter(({ withBlocks }) => !withBlocks)
    await compareAnswers(servers, asked, ledger)
    for (const server of servers.values()) server.hold()
    const results = await measureInTurns(servers, columns, { ledger, ...options })
    const others = asked.filter(({ withBlocks }) => withBlocks)
    const later = await measureWithBlocks(servers, others, { ledger, ...options })
    const begun = loadavg()[0]?.toFixed(1)
    console.log(
      `${database}, ${ledger.rows} rows, load average ${begun}: processor µs a request (requests a second)\n`,
    )
    printResults(database, new Map([...results, ...later]))
  } finally {
    for (const server of servers.values()) await server.end()
  }
}

/**
 * While the gateway gets blocks, which it does whoever is asked. What a block takes without requests is not counted as theirs.
 */
async function measureWithBlocks(
  servers: ReadonlyMap<Peer, Server>,
  columns: readonly Column[],
  options: Options & { readonly ledger: LargeLedger },
): Promise<Results> {
  if (columns.length === 0) return new Map()
  const gateway = present(servers.get(ours), 'the gateway')
  const sender = await startSender(gateway.port, blocksPerSecond, 'tagged')
  try {
    await delay(2_000)
    const [spent, taken] = [gateway.spent(), sender.accepted()]
    await delay(5_000)
    const msOfBlock = (gateway.spent() - spent) / (sender.accepted() - taken)
    const reading = { ...gateway, spent: () => gateway.spent() - msOfBlock * sender.accepted() }
    const [before, begun] = [sender.accepted(), performance.now()]
    const results = await measureInTurns(new Map([...servers, [ours, reading]]), columns, options)
    const rate = ((sender.accepted() - before) * 1_000) / (performance.now() - begun)
    console.log(
      `${rate.toFixed(0)} blocks a second were taken, of ${(msOfBlock * 1_000).toFixed(0)} µs each.\n`,
    )
    return results
  } finally {
    await sender.end()
  }
}

const blocksPerSecond = 500

/** One server at a time, all of them in each round. */
async function measureInTurns(
  servers: ReadonlyMap<Peer, Server>,
  columns: readonly Column[],
  { ledger, rounds, isShort }: Options & { readonly ledger: LargeLedger },
): Promise<Results> {
  const results = new Map(columns.map((column) => [column, new Map<Peer, Measured[]>()]))
  // The first round warms up: V8 compiles the code of a server while it runs, which takes seconds.
  for (let round = 0; round <= rounds; round++) {
    for (const [peer, server] of servers) {
      server.goOn()
      for (const column of columns) {
        if (peer.asks[column.kind] === undefined) continue
        const ms = (isShort ? 500 : 1_000) * (round === 0 ? 6 : 1)
        const measured = await load({ peer, server }, column, { ledger, ms })
        if (round === 0) continue
        const ofColumn = results.get(column)
        ofColumn?.set(peer, [...(ofColumn.get(peer) ?? []), measured])
      }
      server.hold()
    }
  }
  return results
}

function isRejected(one: PromiseSettledResult<unknown>): one is PromiseRejectedResult {
  return one.status === 'rejected'
}
