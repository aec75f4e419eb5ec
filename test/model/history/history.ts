import { graphql } from '../../support/client.ts'
import { partitioned } from '../../support/partitioned.ts'
import { plain } from '../../support/player-coins.ts'
import { createRandom } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { addressOf, user } from '../../support/wallet.ts'
import { compareAnswers } from '../answers/answers.ts'
import { createArchive } from '../archive.ts'
import { createDifferences } from '../differences.ts'
import { type Retention, untilPruned } from '../kept.ts'
import { compareWithModel } from '../model.ts'
import { reached } from '../reached.ts'
import { openBank } from './bank.ts'
import { openCopies } from './copies.ts'
import { openFeeds } from './feeds.ts'
import { createIssuers } from './issuers.ts'
import { createRecords } from './records.ts'
import { note, play, seatOf } from './seats.ts'
import { createVault } from './vault.ts'
import { openWorld } from './world.ts'

/**
 * One random history of a ledger: players, issuers and writers of chain records act in every slot, by every way in; the gateway is
 * closed and opened, and its clock leaps. At its end the database, the answers and the subscriptions are compared with the model.
 */

/** The extent of a history. The seed determines it, except for the order in which concurrent requests arrive. */
export interface HistoryOptions {
  readonly seed: number
  readonly databaseUrl: string
  readonly rounds: number
  readonly players: number
  /** Lets the gateway delete old rows and blocks during the history. */
  readonly retention?: Retention | undefined
  /** Divides the log into partitions of so many rows in the middle of the history; only on PostgreSQL. */
  readonly partitionRows?: number | undefined
  /** A replica of the database, which the gateway reads. */
  readonly replica?: Replica | undefined
  /** A checkout of a former version, whose gateway runs until the middle of the history. */
  readonly former?: string | undefined
  /** Creates an empty database. With it, two followers, an import and a restored backup are compared too. */
  readonly newDatabase?: (() => Promise<string>) | undefined
  readonly onProgress?: (text: string) => void
}

/** A server that replicates the database. */
export interface Replica {
  /** The URL of the database there. */
  readonly url: string
  /** Lets the replica stand still until `resume`. */
  pause(): Promise<void>
  resume(): Promise<void>
}

/** The result of a history. */
export interface HistoryReport {
  /** Differences from the model; empty if the history passed. */
  readonly differences: readonly string[]
  readonly compared: number
  readonly blocks: number
  readonly rows: number
  /** How often each outcome of a submission occurred, each verdict, and each part of an accepted transaction. */
  readonly outcomes: ReadonlyMap<string, number>
}

/** Runs a history on an empty database. */
export async function runHistory(options: HistoryOptions): Promise<HistoryReport> {
  const { seed, databaseUrl, rounds, players, retention, newDatabase } = options
  const { partitionRows, replica, former, onProgress = () => {} } = options
  const random = createRandom(seed)
  const differ = createDifferences()
  const world = await openWorld(databaseUrl, random, {
    former,
    settings: {
      ...(replica && { READ_DATABASE_URLS: replica.url }),
      ...(retention && {
        ...{ LOG_RETENTION: `${retention.log}`, BLOCK_RETENTION: `${retention.blocks}` },
      }),
    },
  })
  const archive = createArchive(databaseUrl)
  // Before the rows of the genesis are deleted.
  if (retention !== undefined) await archive.copy()
  if (retention !== undefined || replica !== undefined) await world.restart(1)
  const copies = newDatabase && (await openCopies(world, { newDatabase, retention, archive }))
  const feeds = openFeeds(world)
  try {
    const bank = await openBank(world)
    const seats = Array.from({ length: players }, (_, n) => seatOf(n, seed))
    const issuers = createIssuers(world, bank, { seats, seed })
    const vault = createVault(world, bank, seed)
    const records = await createRecords(world, differ)
    // The feed of records has no beginning: its first event is the first change after it was opened.
    await until(async () => {
      await records.step()
      return feeds.recordsSeen() > 0
    })
    const first = await world.moment()
    const gifts = seats.map(({ player }) => plain(player.addresses[0], 100_000_000n))
    for (const [n, coin] of ((await bank.pay(first, gifts)) ?? []).entries()) {
      const seat = seats[n]
      if (seat !== undefined) note(seat, { spent: [], created: [coin] }, coin.bookedSlot)
    }
    await world.pass(historyStart)
    for (let round = 0; round < rounds; round++) {
      const moment = await world.moment()
      await Promise.all(seats.map((seat) => play(world, seat, moment)))
      await issuers.step(moment)
      await vault.step(moment)
      if (round % 3 === 0) await issuers.voteWell(moment)
      if (round % 5 === 1) await records.step()
      if (round % 7 === 2) await askFaucet(world.url)
      feeds.watch([...world.acknowledged].at(-1))
      await passTime()
      const isMiddle = round === Math.floor(rounds / 2)
      if (isMiddle && former !== undefined) await world.upgrade()
      if (isMiddle) await copies?.keep()
      // Sometimes the replica stands still for a round.
      if (replica !== undefined) {
        await (random.between(0, 3) === 0 ? replica.pause() : replica.resume())
      }
      if (isMiddle && partitionRows !== undefined) {
        await partitioned(databaseUrl, { rows: partitionRows })
      }
      if (copies !== undefined && random.between(0, 14) === 0) await copies.restartFollower()
      if (round % 20 === 19) onProgress(`seed ${seed}: ${round + 1} of ${rounds} rounds`)
    }
    await replica?.resume()
    // Nothing more happens, but timelocks end and outputs expire.
    await world.pass(4)
    await world.pass(4)
    await world.untilStill(world.url)

    async function passTime(): Promise<void> {
      if (retention !== undefined) await archive.copy()
      const lot = random.between(0, 19)
      if (lot === 0) {
        // Longer than rewards are kept; with retention, no row may be deleted before it is copied.
        const long = random.between(0, 2) === 0 ? 300 : 90
        const most = retention === undefined ? long : Math.floor(retention.log / 2)
        return world.restart(random.between(0, 1) ? random.between(1, 8) : random.between(20, most))
      }
      if (lot === 1) {
        const moment = await world.moment()
        await world.inThePast(random.between(1, 8), () =>
          Promise.all(seats.slice(0, 3).map((seat) => play(world, seat, moment))),
        )
      }
      await world.pass([1, 1, 1, 2, 3, 5][random.between(0, 5)] ?? 1)
    }

    const { refusals } = world
    const model = await compareWithModel(databaseUrl, { differ, refusals, retention, archive })
    const stored = new Set(model.ledger.blocks.map(({ blockId }) => blockId))
    for (const id of world.acknowledged) {
      differ.equal(`acknowledged block ${id}`, stored.has(id) ? 'stored' : 'lost', 'stored')
    }
    await feeds.compare(model, records, differ)
    if (retention !== undefined) await untilPruned(world, model)
    await compareAnswers(world.url, model, { random, differ, records })
    await copies?.compare(model, differ)
    const serious = world.warnings().filter((one) => one.startsWith('error'))
    differ.equal('errors in the log', serious.slice(0, 3), [])
    if (replica !== undefined) {
      differ.equal('the replica was read', world.readsMoved() > 0, true)
    }
    return {
      differences: differ.found,
      compared: differ.compared(),
      blocks: model.ledger.blocks.length,
      rows: model.rows.length,
      outcomes: new Map([...world.outcomes, ...reached(model)]),
    }
  } finally {
    await feeds.close()
    await copies?.close()
    await world.close()
  }
}

/** Slots until the first outputs are committed. */
const historyStart = 4

/** Requests a payment, by REST or GraphQL. The faucet has an output of its own. */
async function askFaucet(url: string): Promise<void> {
  const address = addressOf(user(1))
  const body = JSON.stringify({ address, amount: '1000000' })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}/api/enqueue`, { method: 'POST', headers, body })
  const query = `mutation { requestFromFaucet(address: "${address}", amount: "1000000") { state } }`
  await graphql(url, query)
}
