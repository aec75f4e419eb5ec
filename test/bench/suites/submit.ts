import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { accountIdOfKey } from '../../../src/node/embedded/development.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import { makeFolder } from '../../support/program.ts'
import { blockOf, offerOf, taggedData, untilCommitted } from '../../support/wallet.ts'
import { type LargeLedger, makeLedger } from '../graphql/data.ts'
import { load, type Measured } from '../graphql/load.ts'
import { gatewayPeer } from '../graphql/peers.ts'
import { type Server, startSender, startServer } from '../graphql/servers.ts'
import { keyOf } from '../keys.ts'
import { median, printTable } from '../measure.ts'
import { openLine } from '../rest/load.ts'

/** Measures the cost of a block for the built gateway on SQLite, with its signature check, and the latency of reads during transfers. */

const help = `npm run bench -- submit [--short] [--rounds N]

Submits tagged blocks as bytes, as fast as the gateway accepts them, and prints its processor time per block. Then requests pages
of 20 rows from 16 clients, and prints the latency without and with 500 transfers per second.

--short  uses a log of 10^5 rows instead of 10^6, and three rounds instead of nine`

const lineCount = 48
const transfersPerSecond = 500
const page = { kind: 'page', choice: 'random', rows: 20, connections: 16 } as const

/** Prints both tables. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      rounds: { type: 'string' },
    },
  })
  if (values.help) return console.log(help)
  const rounds = Number(values.rounds ?? (values.short ? 3 : 9))
  const folder = makeFolder()
  try {
    const rows = values.short ? 100_000 : 1_000_000
    const ledger = await makeLedger(folder.databaseUrl, `${folder.databaseFile}.key`, rows)
    const server = await startServer(gatewayPeer, ledger)
    try {
      await measureBlocks(server, rounds)
      await measureReads(server, ledger, rounds)
    } finally {
      await server.end()
    }
  } finally {
    folder.remove()
  }
}

async function measureBlocks(server: Server, rounds: number): Promise<void> {
  for (let round = 1; round < warmUpRounds; round++) await submitRound(server)
  await untilSettled(server, await submitRound(server))
  const measured: Awaited<ReturnType<typeof submitRound>>[] = []
  const idle = await idleShare(server)
  const [spent, begun] = [server.spent(), performance.now()]
  const checks: number[] = []
  for (let round = 0; round < rounds; round++) {
    measured.push(await submitRound(server))
    checks.push(checkUs())
  }
  await untilSettled(server, measured.at(-1))
  const accepted = measured.reduce((sum, one) => sum + one.accepted, 0)
  const all = server.spent() - spent - idle * (performance.now() - begun)
  const column = (name: 'cpuUs' | 'perSecond') => median(measured.map((one) => one[name]))
  printTable([
    ['tagged blocks as bytes', 'target', 'measured'],
    ['processor µs per block while blocks are sent', 'at most 350', column('cpuUs').toFixed(0)],
    ['processor µs per block until all are committed', '', ((all * 1_000) / accepted).toFixed(0)],
    ['processor µs per signature check of OpenSSL', '', median(checks).toFixed(0)],
    ['blocks per second', '2,500', column('perSecond').toFixed(0)],
  ])
  const sent = rounds * blocksPerRound
  console.log(`\n${sent - accepted} of ${sent} blocks were too late for their slots.\n`)
}

/** The processor time of an OpenSSL check on this machine at this time, in microseconds, as a reference for the other values. */
function checkUs(): number {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const message = Buffer.alloc(40, 1)
  const signature = sign(null, message, privateKey)
  const begun = process.cpuUsage()
  for (let times = 0; times < checksMeasured; times++) verify(null, message, publicKey, signature)
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / checksMeasured
}

const checksMeasured = 1_000

/** Waits until the slot of a round is committed. */
async function untilSettled({ port }: Server, round?: { readonly slot: number }): Promise<void> {
  await untilCommitted(`http://127.0.0.1:${port}`, round?.slot ?? 0)
}

/** The share of a core that the gateway uses for its slots without requests. */
async function idleShare(server: Server): Promise<number> {
  const [spent, begun] = [server.spent(), performance.now()]
  await delay(4_000)
  return (server.spent() - spent) / (performance.now() - begun)
}

const blocksPerRound = 1_500

/** V8 optimizes the code of a submission until about 45,000 blocks. */
const warmUpRounds = 30

let serial = 0

/** Signs blocks with the latest allowed issuing time, so that their slots are open when they are sent, and then submits them. */
async function submitRound({ port, spent }: Server) {
  const offer = await offerOf(`http://127.0.0.1:${port}`)
  const issuingTime = BigInt(Date.now() + 4_000) * 1_000_000n
  const key = keyOf(0)
  const header = { issuingTime, issuerId: accountIdOfKey(key) }
  const blocks = Array.from({ length: blocksPerRound }, () => {
    const payload = taggedData('0x62656e6368', `0x${(++serial).toString(16).padStart(64, '0')}`)
    return blockOf(offer, payload, { key, header }).bytes
  })
  const lines = await Promise.all(Array.from({ length: lineCount }, () => openLine(port)))
  let next = 0
  let late = 0
  const before = spent()
  const begun = performance.now()
  await Promise.all(
    lines.map(async (line) => {
      for (let block = blocks[next++]; block !== undefined; block = blocks[next++]) {
        const { status, body } = await line.postBlock('/api/core/v3/blocks', block)
        if (status === 400) late++
        else if (status !== 201) throw new Error(`the gateway responded with ${status}: ${body}`)
      }
    }),
  )
  const ms = performance.now() - begun
  const cpuMs = spent() - before
  for (const line of lines) line.end()
  const accepted = blocks.length - late
  const slot = slotOfTime(offer.network.parameters, issuingTime)
  return { cpuUs: (cpuMs * 1_000) / accepted, perSecond: (accepted * 1_000) / ms, accepted, slot }
}

/** Measures the latency of reads without and with transfers in alternation, because the speed of a shared machine varies. */
async function measureReads(server: Server, ledger: LargeLedger, rounds: number): Promise<void> {
  const idle: Measured[] = []
  const busy: Measured[] = []
  const read = () => load({ peer: gatewayPeer, server }, page, { ledger, ms: readMs })
  const sender = await startSender(server.port, transfersPerSecond, 'transfers')
  let accepted = 0
  let ms = 0
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    // Slots are booked and committed during the measurement as they are later on.
    await delay(round === 0 ? 20_000 : slotsBeforeMs)
    const [taken, begun] = [sender.accepted(), performance.now()]
    const withTransfers = await read()
    if (round > 0) {
      busy.push(withTransfers)
      accepted += sender.accepted() - taken
      ms += performance.now() - begun
    }
    sender.pause()
    await delay(untilCommittedMs)
    const without = await read()
    if (round > 0) idle.push(without)
    sender.resume()
  }
  await sender.end()
  printTable([
    ['pages of 20 rows, 16 connections', 'requests per second', 'p50 ms', 'p99 ms'],
    row('no transfers', idle),
    row(`${((accepted * 1_000) / ms).toFixed(0)} accepted transfers per second`, busy),
  ])
  const ratio = percentile(busy, 0.99) / percentile(idle, 0.99)
  console.log(`\np99 with transfers to p99 without: ${ratio.toFixed(2)} (target: at most 2)`)
}

const readMs = 4_000
const slotsBeforeMs = 8_000
/** The time from the last transfer until its slot is committed and final. */
const untilCommittedMs = 12_000

function row(name: string, measured: readonly Measured[]): string[] {
  const rate = median(measured.map(({ perSecond }) => perSecond))
  const [p50, p99] = [0.5, 0.99].map((part) => percentile(measured, part).toFixed(1))
  return [name, rate.toFixed(0), p50 ?? '', p99 ?? '']
}

/** A percentile over all rounds together, because one round has too few slow responses. */
function percentile(measured: readonly Measured[], part: number): number {
  const sorted = measured.flatMap(({ times }) => times).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}
