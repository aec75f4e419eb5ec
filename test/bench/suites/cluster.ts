import { Agent, request } from 'node:http'
import type { Client } from 'pg'
import { openSignatureChecker } from '../../../src/node/signatures.ts'
import { Block } from '../../../src/protocol/block.ts'
import { identifyBlock } from '../../../src/protocol/ids.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder } from '../../support/program.ts'
import {
  blockOf,
  offerOf,
  type SignedBlock,
  taggedData,
  untilHealth,
} from '../../support/wallet.ts'
import { type ClusterGateway, startClusterGateway } from '../../torture/cluster/gateways.ts'
import { withClient } from '../../torture/cluster/lease.ts'
import { parentOf, processorMs, processorMsOfTree } from '../cluster/processor.ts'
import { median, printTable } from '../measure.ts'

/**
 * Measures the blocks that one, two and three gateways accept per second, on one PostgreSQL that waits for its disk. Each block has
 * its own payload and one signature. Gateways, database and clients share the machine.
 */

const gatewayCounts = [1, 2, 3] as const
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const blocksPerRound = 1_500
/** The number of concurrent requests at each gateway. */
const linesOfEach = 48

interface Round {
  readonly perSecond: number
  /** The processor time per block, in microseconds. */
  readonly gatewaysUs: number
  readonly databaseUs: number
  /** The number of blocks whose slot was already closed. */
  readonly late: number
}

/** Alternates between the numbers of gateways, because the machine may temporarily be busy with other work. */
export async function run(): Promise<void> {
  const server = await startPostgresql([])
  const folder = makeFolder()
  const gateways: ClusterGateway[] = []
  try {
    const env = {
      DATABASE_URL: server.url,
      KEY_FILE: `${folder.databaseFile}.key`,
      LOG_LEVEL: 'error',
    }
    for (const _ of gatewayCounts) gateways.push(await startClusterGateway(env))
    for (const { url } of gateways) await untilHealth(url)
    const database = await withClient(server.url, serverOf)
    const measured = new Map(gatewayCounts.map((count) => [count, [] as Round[]]))
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      for (const count of gatewayCounts) {
        const one = await measure({ gateways, count, database })
        if (round > 0) measured.get(count)?.push(one)
      }
    }
    print(measured, await checkUs(gateways[0]?.url ?? ''))
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await server.stop()
    folder.remove()
  }
}

/** The id of the server process, the parent of the process that serves the connection. */
async function serverOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return parentOf(rows[0]?.pid ?? 0)
}

interface Measuring {
  readonly gateways: readonly ClusterGateway[]
  readonly count: number
  readonly database: number
}

async function measure({ gateways, count, database }: Measuring): Promise<Round> {
  const urls = gateways.slice(0, count).map(({ url }) => url)
  const blocks = await signedBlocks(urls[0] ?? '')
  const spent = () => ({
    gateways: gateways.reduce((sum, gateway) => sum + processorMs(gateway.pid()), 0),
    database: processorMsOfTree(database),
  })
  const lines = linesOfEach * count
  // Opens new connections in every round, because a server closes connections that are idle for some seconds.
  const agent = new Agent({ keepAlive: true, maxSockets: lines })
  const before = spent()
  const begun = performance.now()
  let late = 0
  let next = 0
  async function send(): Promise<void> {
    for (let at = next++; at < blocks.length; at = next++) {
      const status = await post(agent, urls[at % urls.length] ?? '', blocks[at]?.bytes)
      if (status === 400) late++
      else if (status !== 201) throw new Error(`the gateway responded with ${status}`)
    }
  }
  await Promise.all(Array.from({ length: lines }, send))
  const ms = performance.now() - begun
  const after = spent()
  agent.destroy()
  const accepted = blocks.length - late
  return {
    perSecond: (accepted / ms) * 1_000,
    gatewaysUs: ((after.gateways - before.gateways) * 1_000) / accepted,
    databaseUs: ((after.database - before.database) * 1_000) / accepted,
    late,
  }
}

let serial = 0

/** Signs blocks with the latest allowed issuing time, so that their slots are open when they are sent. */
async function signedBlocks(url: string): Promise<readonly SignedBlock[]> {
  const offer = await offerOf(url)
  const begun = Date.now()
  return Array.from({ length: blocksPerRound }, () => {
    serial++
    const issuingTime = BigInt(begun + 4_000) * 1_000_000n
    const data = taggedData('0x62656e6368', `0x${serial.toString(16).padStart(64, '0')}`)
    return blockOf(offer, data, { header: { issuingTime } })
  })
}

function post(agent: Agent, url: string, bytes: Uint8Array | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/vnd.iota.serializer-v2' }
    const posted = request(`${url}/api/core/v3/blocks`, { method: 'POST', agent, headers })
    posted.on('error', reject)
    posted.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    posted.end(bytes)
  })
}

/** The processor time of one signature check as in the gateway, on all threads, in microseconds. */
async function checkUs(url: string): Promise<number> {
  const signatures = openSignatureChecker({ queueLimit: 1 })
  const { network } = await offerOf(url)
  const items = (await signedBlocks(url)).map(({ block }) => {
    const bytes = encode(Block, block)
    const slot = slotOfTime(network.parameters, block.header.issuingTime)
    return { ...block.signature, message: identifyBlock(bytes, slot).signingInput }
  })
  const before = process.cpuUsage()
  for (const item of items) await signatures.check([item])
  const { user, system } = process.cpuUsage(before)
  await signatures.close()
  return (user + system) / items.length
}

function print(measured: ReadonlyMap<number, readonly Round[]>, ofCheck: number): void {
  const column = (all: readonly Round[], name: keyof Round) => median(all.map((one) => one[name]))
  printTable([
    ['gateways', 'blocks per second', 'gateways µs', 'database µs', 'signature checks of gateways'],
    ...[...measured].map(([count, all]) => {
      const share = ofCheck / column(all, 'gatewaysUs')
      return [
        String(count),
        column(all, 'perSecond').toFixed(0),
        column(all, 'gatewaysUs').toFixed(0),
        column(all, 'databaseUs').toFixed(0),
        `${(share * 100).toFixed(0)} %`,
      ]
    }),
  ])
  const late = [...measured.values()].flat().reduce((sum, one) => sum + one.late, 0)
  console.log(
    `\none signature check: ${ofCheck.toFixed(1)} µs; blocks after their slots closed: ${late}`,
  )
}
