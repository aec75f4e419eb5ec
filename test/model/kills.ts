import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseConfig } from '../../src/config.ts'
import { openGateway } from '../../src/gateway.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { BlockId, OutputId } from '../../src/protocol/primitives.ts'
import { type Program, startProgram } from '../support/program.ts'
import { createRandom, type Random } from '../support/random.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import {
  blockOf,
  genesisOutputs,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedBlock,
  slotNow,
  untilCommitted,
  untilHealth,
  users,
} from '../support/wallet.ts'
import { compareAnswers } from './answers/answers.ts'
import { createDifferences } from './differences.ts'
import { untilStill } from './history/still.ts'
import { submitBlock, type Way, ways } from './history/ways.ts'
import { compareWithModel, type Model } from './model.ts'

/**
 * Real gateway processes under load, killed one after another. Afterwards the database is compared with the model: a block that was
 * acknowledged must be in it, and everything else must follow from the blocks that are in it.
 */

/** The extent of a run. */
export interface KillOptions {
  readonly databaseUrl: string
  /** The gateways on the database: one on SQLite. */
  readonly gateways: number
  readonly kills: number
  readonly seed: number
  /** The settings of the gateways, without the database. */
  readonly env: Readonly<Record<string, string>>
  readonly onProgress?: (text: string) => void
}

/** The result of a run. */
export interface KillReport {
  readonly differences: readonly string[]
  readonly acknowledged: number
}

interface Coin {
  readonly outputId: OutputId
  readonly amount: bigint
}

/** Kills the gateways of an empty database. */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const { databaseUrl, gateways, kills, seed, onProgress = () => {} } = options
  const env = { ...options.env, DATABASE_URL: databaseUrl }
  // The second gateway is two processes behind one port.
  const envOf = (i: number) => (i === 1 ? { ...env, WORKERS: '2' } : env)
  const random = createRandom(seed)
  const programs: Program[] = []
  for (let i = 0; i < gateways; i++) programs.push(await startProgram(envOf(i)))
  const anyUrl = () => programs[random.between(0, programs.length - 1)]?.url ?? ''
  await untilHealth(anyUrl())
  const acknowledged = new Set<BlockId>()
  let isStopped = false
  let offer = await offerOf(anyUrl())
  const renewing = renew()
  const purses = await Promise.all(
    users.slice(1, 8).map(async (key) => ({ key, ids: await genesisOutputs(anyUrl(), key) })),
  )
  const payers = purses.map(pay)
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await delay(random.between(300, 4_000))
      const i = random.between(0, programs.length - 1)
      await programs[i]?.end('SIGKILL')
      programs[i] = await startProgram(envOf(i))
      await untilHealth(programs[i].url)
      onProgress(`${kill} of ${kills} kills, ${acknowledged.size} acknowledged blocks`)
    }
  } finally {
    isStopped = true
    await Promise.all([...payers, renewing])
  }
  await untilCommitted(anyUrl(), slotNow(offer.network) + 2)
  for (const program of programs) await program.end('SIGTERM')
  const differ = createDifferences()
  const model = await compareStill()
  const stored = new Set(model.ledger.blocks.map(({ blockId }) => blockId))
  for (const id of acknowledged) {
    differ.equal(`acknowledged block ${id}`, stored.has(id) ? 'stored' : 'lost', 'stored')
  }
  return { differences: differ.found, acknowledged: acknowledged.size }

  /** Opens a gateway whose clock stands, so that its answers can be compared too. */
  async function compareStill(): Promise<Model> {
    const clock = createSettableClock(systemClock.nowNs())
    const { parameters } = offer.network
    const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-kills-'))
    const still = { ...env, PORT: '0', KEY_FILE: join(folder, 'key'), WORKERS: undefined }
    const config = parseConfig(still, [])
    if (!config.ok) throw new Error(JSON.stringify(config.error))
    const gateway = await openGateway(config.value, { clock, log: silentLog })
    if (!gateway.ok) throw new Error(JSON.stringify(gateway.error))
    try {
      await untilStill(gateway.value.url, parameters, clock.nowNs())
      const own = await compareWithModel(databaseUrl, { differ })
      await compareAnswers(gateway.value.url, own, { random, differ })
      return own
    } finally {
      await gateway.value.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Keeps the parents and the commitment of new blocks fresh. */
  async function renew(): Promise<void> {
    while (!isStopped) {
      const next = await Promise.race([offerOf(anyUrl()).catch(() => undefined), delay(2_000)])
      if (next !== undefined) offer = next
      await delay(1_000)
    }
  }

  /** One user spends and splits own outputs, sometimes in an unusual order or twice. */
  async function pay({ key, ids }: (typeof purses)[number]): Promise<void> {
    const purse: Coin[] = ids.map((outputId) => ({ outputId, amount: 1_000_000_000n }))
    while (!isStopped) {
      await delay(random.between(0, 30))
      const coin = purse.shift()
      if (coin === undefined) return
      const lot = random.between(0, 9)
      const half = coin.amount / 2n
      const isSplit = coin.amount > 2_000_000n && lot < 5
      const amounts = isSplit ? [half, coin.amount - half] : [coin.amount]
      const made = paying(offer, coin, amounts)
      const child =
        lot === 6 && paying(offer, coinOf(made.created[0], amounts[0]), [amounts[0] ?? 0n])
      if (child) await submitUntilSure(blockOf(offer, child.payload))
      const block = blockOf(offer, made.payload)
      const isPaid = await submitUntilSure(block)
      if (lot === 8) {
        const issuingTime = block.block.header.issuingTime + 1_500_000_000n
        await submitUntilSure(blockOf(offer, made.payload, { header: { issuingTime } }))
      }
      if (!isPaid) purse.push(coin)
      else if (child) purse.push(coinOf(child.created[0], amounts[0]))
      else purse.push(...amounts.map((amount, i) => coinOf(made.created[i], amount)))
    }

    function paying({ network }: Offer, { outputId: spend }: Coin, amounts: readonly bigint[]) {
      const outputs = amounts.map((amount) => ownedBy(key, amount))
      return paymentOf(network, { spend, key, outputs, creationSlot: slotNow(network) })
    }
  }

  /** Submits a block until a gateway answers, as a client does. */
  async function submitUntilSure(block: SignedBlock): Promise<boolean> {
    while (!isStopped) {
      const answer = await submitBlock(anyUrl(), block, anyWay(random)).catch(() => undefined)
      if (answer?.status === 201) acknowledged.add(block.blockId)
      if (answer !== undefined && answer.status < 500) return answer.status === 201
      await delay(250)
    }
    return false
  }
}

function coinOf(outputId: OutputId | undefined, amount: bigint | undefined): Coin {
  if (outputId === undefined || amount === undefined) throw new Error('an output is missing')
  return { outputId, amount }
}

function anyWay(random: Random): Way {
  return ways[random.between(0, ways.length - 1)] ?? 'bytes'
}
