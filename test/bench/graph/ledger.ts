import { writeFileSync } from 'node:fs'
import { identifyOutputs } from '../../../src/ledger/genesis.ts'
import { conditionOf } from '../../../src/ledger/output-parts.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { addressKey } from '../../../src/protocol/ids.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import type { SlotIndex } from '../../../src/protocol/primitives.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { AddressUnlock } from '../../../src/protocol/unlock-conditions.ts'
import { type EmbeddedLedger, openEmbeddedLedger } from '../../support/embedded-ledger.ts'
import { type Effects, firstSlot } from '../../support/ledger-world.ts'
import { taggedData } from '../../support/wallet.ts'
import { createBlocks } from './blocks.ts'
import { genesisAt } from './genesis.ts'
import { nextTransaction, type Seat, seatsOf } from './mix.ts'

/**
 * A large ledger for benchmarks of the graph. The embedded ledger executes, books and commits all transactions, without the
 * transports and as fast as possible. Only signatures are not checked, because this process makes them.
 */

/** A database with a large ledger. */
export interface GraphLedger {
  readonly url: string
  /** The number of booked transactions, including failed ones. */
  readonly transactions: number
  /** The last slot with transactions. */
  readonly lastSlot: SlotIndex
  /** The start of slot 1 in Unix seconds. */
  readonly began: number
  /** The settings of a gateway on the database. */
  readonly env: Readonly<Record<string, string>>
}

const nsPerSecond = 1_000_000_000n

/** Creates the ledger in an empty database; `keyFile` is a path for the key of the gateways. */
export async function makeGraphLedger(
  url: string,
  keyFile: string,
  wanted: number,
): Promise<GraphLedger> {
  const seats = seatsOf(Math.min(2_000, Math.max(100, Math.ceil(2 * Math.sqrt(wanted)))))
  const slots = Math.ceil(wanted / seats.length)
  // A gateway that starts on the ledger later only has to commit the slots of the time that the creation took.
  const began = Math.floor(Date.now() / 1_000) - firstSlot - slots
  const users = seats.map(({ player }) => player.keys[0])
  const genesis = genesisAt(began, users)
  const { parameters, outputs } = genesis
  const ledger = await openEmbeddedLedger(url, { startSeconds: began + firstSlot - 1, genesis })
  await ledger.untilCommitted(firstSlot - parameters.minCommittableAge)
  const ids = identifyOutputs(parameters, outputs)
  const created = outputs.map((output, i) => ({ outputId: present(ids[i], 'an id'), output }))
  const world = worldOf(ledger, seats)
  world.note(0, { spent: [], created })
  let transactions = 0
  for (let n = 0; n < slots; n++) {
    transactions += await world.pass()
    if ((n + 1) % Math.ceil(slots / 10) === 0) {
      console.error(
        `${transactions.toLocaleString('en')} of ${wanted.toLocaleString('en')} transactions`,
      )
    }
  }
  for (let n = 0; n <= parameters.minCommittableAge; n++) await world.settle()
  await ledger.close()
  const parametersFile = `${keyFile}.parameters.json`
  writeFileSync(parametersFile, JSON.stringify(print(ProtocolParameters, parameters)))
  const env = {
    DATABASE_URL: url,
    KEY_FILE: keyFile,
    PARAMETERS_FILE: parametersFile,
    LOG_LEVEL: 'error',
    // One client sends all requests.
    CLIENT_COST: '10000000',
    NODE_ENV: 'production',
  }
  return { url, transactions, lastSlot: firstSlot + slots, began, env }
}

/** Makes users and validators issue blocks, slot by slot. */
function worldOf({ clock, at, untilCommitted }: EmbeddedLedger, seats: readonly Seat[]) {
  const { source } = at()
  const { minCommittableAge } = source.network.parameters
  const seatByAddress = new Map(
    seats.flatMap((seat) => seat.player.addresses.map((one) => [addressKey(one), seat] as const)),
  )
  const blocks = createBlocks(source, clock.nowNs)
  let slot = firstSlot

  /** Records outputs with their users: by the key that may spend them, otherwise the user who created them, whose chain owns them. */
  function note(bookedSlot: SlotIndex, { spent, created }: Effects, by?: Seat): void {
    const gone = new Set<Hex>(spent)
    if (by !== undefined && gone.size > 0) {
      by.spent = by.coins.find(({ outputId }) => gone.has(outputId)) ?? by.spent
      by.coins = by.coins.filter(({ outputId }) => !gone.has(outputId))
    }
    for (const { outputId, output } of created) {
      const seat = seatByAddress.get(ownerKey(output)) ?? by
      seat?.coins.push({ outputId, output, bookedSlot })
    }
  }

  /** Issues a transaction of each user, some tagged data, and a validation block of each validator. Returns the transaction count. */
  async function pass(): Promise<number> {
    const build = await blocks.next(slot)
    const made = seats.flatMap((seat) => {
      const transaction = nextTransaction(seat, seats, build.moment)
      return transaction === undefined ? [] : [{ seat, transaction }]
    })
    const issued = made.flatMap(({ transaction: { payload } }, n) => {
      const data = taggedData('0x62656e6368', `0x${slot.toString(16).padStart(64, '0')}`)
      return [build.block(payload), ...(n % 12 === 0 ? [build.block(data)] : [])]
    })
    for (const { seat, transaction } of made) {
      if (!transaction.isMeantToFail) note(slot, transaction, seat)
    }
    const all = [...issued, ...build.votes()]
    const answers = await Promise.all(all.map((block) => source.submit(block)))
    for (const answer of answers) if (!answer.ok) throw new Error(answer.error.code)
    await settle()
    return made.length
  }

  /** Ends the slot, and waits until the slot `minCommittableAge` before the new one is committed. */
  async function settle(): Promise<void> {
    slot += 1
    clock.advance(nsPerSecond)
    await untilCommitted(slot - minCommittableAge)
  }

  return { note, pass, settle }
}

function ownerKey(output: Output): Hex {
  const owner = conditionOf(output, AddressUnlock)
  return owner === undefined ? '0x' : addressKey(owner.address)
}
