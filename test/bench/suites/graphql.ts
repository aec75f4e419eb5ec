import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { present } from '../../../src/lib/assert.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder } from '../../support/program.ts'
import { parentOf, processorMsOfTree } from '../cluster/processor.ts'
import { type LargeLedger, makeLedger } from '../graphql/data.ts'
import { compareResponses, load, type Measured } from '../graphql/load.ts'
import { gatewayPeer, type Peer, peers } from '../graphql/peers.ts'
import { installPeers, type Server, startSender, startServer } from '../graphql/servers.ts'
import { type Column, printResults, type Results, tables } from '../graphql/tables.ts'

/** Compares the pages of the log by GraphQL with the servers of `test/bench/peers` on the same rows. */

const help = `npm run bench -- graphql [--short] [--database sqlite|postgresql] [--rows N] [--rounds N] [--only TEXT]

Requests pages of the updates of an address from the built gateway (npm run build) and its peers, in alternation. Compares their
responses first. Prints the processor time of the server per request, in microseconds, and the requests per second, and on
PostgreSQL also its own processor time.

--short     uses a log of 10^5 rows instead of 10^6, three rounds instead of seven, and fewer columns: about five minutes
--database  measures only one of the two databases
--only      measures only the column of the full run with this head, or the columns whose head contains this text`

interface Options {
  /** The processor time of the database server in milliseconds; 0 on SQLite. */
  readonly databaseMs: () => number
  readonly isShort: boolean
  readonly rounds: number
  readonly selected: readonly Column[]
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
  const options: Omit<Options, 'databaseMs'> = {
    isShort,
    rounds: Number(values.rounds ?? (isShort ? 3 : 7)),
    selected: selectedColumns(isShort, values.only),
  }
  const rows = Number(values.rows ?? (isShort ? 100_000 : 1_000_000))
  if (values.database !== 'postgresql') {
    const folder = makeFolder()
    try {
      await measure(
        'SQLite',
        await makeLedger(folder.databaseUrl, `${folder.databaseFile}.key`, rows),
        { ...options, databaseMs: () => 0 },
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
        { ...options, databaseMs: await processorTimeOf(server.url) },
      )
    } finally {
      await server.stop()
      folder.remove()
    }
  }
}

function selectedColumns(isShort: boolean, only: string | undefined): readonly Column[] {
  const columns = tables.flat()
  if (only === undefined) return columns.filter(({ short }) => short === true || !isShort)
  const exact = columns.filter(({ head }) => head === only)
  const selected = exact.length > 0 ? exact : columns.filter(({ head }) => head.includes(only))
  if (selected.length > 0) return selected
  const heads = columns.map(({ head }) => `\n  ${head}`).join('')
  throw new Error(`no column's head contains ${JSON.stringify(only)}; the heads are:${heads}`)
}

/** Returns a function that returns the processor time of a PostgreSQL server and its processes, in milliseconds. */
async function processorTimeOf(url: string): Promise<() => number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const server = parentOf(present(rows[0], 'a row').pid)
  await client.end()
  return () => processorMsOfTree(server)
}

async function measure(database: string, ledger: LargeLedger, options: Options): Promise<void> {
  const there = peers.filter((peer) => database === 'PostgreSQL' || !peer.onlyPostgresql)
  const servers = new Map<Peer, Server>()
  try {
    const start = async (peer: Peer) => void servers.set(peer, await startServer(peer, ledger))
    // Awaits all starts, so that the code below ends every started server even if another one fails.
    const failure = (await Promise.allSettled(there.map(start))).find(isRejected)
    if (failure !== undefined) throw failure.reason
    const { selected } = options
    const columns = selected.filter(({ withBlocks }) => !withBlocks)
    await compareResponses(servers, selected, ledger)
    for (const server of servers.values()) server.pause()
    const results = await measureInTurns(servers, columns, { ledger, ...options })
    const others = selected.filter(({ withBlocks }) => withBlocks)
    const later = await measureWithBlocks(servers, others, { ledger, ...options })
    const begun = loadavg()[0]?.toFixed(1)
    console.log(
      `${database}, ${ledger.rows} rows, load average ${begun}: processor µs per request (requests per second)\n`,
    )
    printResults(database, new Map([...results, ...later]))
  } finally {
    for (const server of servers.values()) await server.end()
  }
}

/**
 * Measures while the gateway receives blocks, also during the turns of the other servers. The processor time of the blocks, measured
 * without requests, is subtracted from that of the gateway's requests.
 */
async function measureWithBlocks(
  servers: ReadonlyMap<Peer, Server>,
  columns: readonly Column[],
  options: Options & { readonly ledger: LargeLedger },
): Promise<Results> {
  if (columns.length === 0) return new Map()
  const gateway = present(servers.get(gatewayPeer), 'the gateway')
  const sender = await startSender(gateway.port, blocksPerSecond, 'tagged')
  try {
    await delay(2_000)
    const [spent, taken] = [gateway.spent(), sender.accepted()]
    await delay(5_000)
    const msOfBlock = (gateway.spent() - spent) / (sender.accepted() - taken)
    const reading = { ...gateway, spent: () => gateway.spent() - msOfBlock * sender.accepted() }
    const [before, begun] = [sender.accepted(), performance.now()]
    const results = await measureInTurns(
      new Map([...servers, [gatewayPeer, reading]]),
      columns,
      options,
    )
    const rate = ((sender.accepted() - before) * 1_000) / (performance.now() - begun)
    console.log(
      `The gateway accepted ${rate.toFixed(0)} blocks per second, with ${(msOfBlock * 1_000).toFixed(0)} µs each.\n`,
    )
    return results
  } finally {
    await sender.end()
  }
}

const blocksPerSecond = 500

/** The duration of requests before each measurement, because the caches of a paused server are cold. */
const leadMs = 500

/**
 * Measures the columns one after another, with the servers in alternation: the speed of a shared machine varies from minute to minute, so
 * compared measurements have to follow each other within seconds.
 */
async function measureInTurns(
  servers: ReadonlyMap<Peer, Server>,
  columns: readonly Column[],
  { ledger, rounds, isShort, databaseMs }: Options & { readonly ledger: LargeLedger },
): Promise<Results> {
  const results = new Map(columns.map((column) => [column, new Map<Peer, Measured[]>()]))
  // The first round warms up: V8 compiles the code of a server while it runs, which takes seconds.
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? [...servers] : [...servers].reverse()
    for (const column of columns) {
      for (const [peer, server] of order) {
        if (peer.asks[column.kind] === undefined) continue
        server.resume()
        await load({ peer, server }, column, { ledger, ms: leadMs })
        const ms = (isShort ? 500 : 1_000) * (round === 0 ? 4 : 1)
        const before = databaseMs()
        const measured = await load({ peer, server }, column, { ledger, ms })
        server.pause()
        if (round === 0) continue
        const databaseUs = ((databaseMs() - before) * 1_000) / measured.times.length
        const ofColumn = results.get(column)
        ofColumn?.set(peer, [...(ofColumn.get(peer) ?? []), { ...measured, databaseUs }])
      }
    }
  }
  return results
}

function isRejected(one: PromiseSettledResult<unknown>): one is PromiseRejectedResult {
  return one.status === 'rejected'
}
