import { setTimeout as delay } from 'node:timers/promises'
import { type Keypair, keypairOf } from '../../src/protocol/keys.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { slotOfTime } from '../../src/protocol/slots.ts'
import type { Random } from '../support/random.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  user,
  users,
} from '../support/wallet.ts'

/** Sends payments between a set of addresses continuously, also while the gateway fails. */

/** A continuous series of payments. */
export interface Traffic {
  /** The addresses that pay each other, as Bech32 text. */
  readonly addresses: readonly string[]
  /** The number of payments acknowledged so far. */
  paid(): number
  /** The newest creation slot of the acknowledged payments. */
  lastSlot(): number
  stop(): Promise<void>
}

/** The gateway that gets the payments. */
export interface TrafficTarget {
  readonly url: string
  /** The offset of its clock from the system clock, in milliseconds. */
  offsetMs(): number
}

/** Returns the genesis outputs of the users, without the first user, who owns the account that issues the blocks. */
async function genesisCoins(url: string): Promise<Coin[]> {
  const coins: Coin[] = []
  for (const key of users.slice(1)) {
    const [outputId] = await genesisOutputs(url, key)
    if (outputId !== undefined) coins.push({ outputId, key, amount: 1_000_000_000n })
  }
  return coins
}

/** The number of payments in progress at the same time. */
const concurrency = 8

/** An unspent output with its owner. */
interface Coin {
  readonly outputId: OutputId
  readonly key: Keypair
  readonly amount: bigint
}

/** Starts payments: as many per second as the gateway and the machine process, and at most `perSecond`. */
export async function startTraffic(
  target: TrafficTarget,
  { random, perSecond, addresses }: { random: Random; perSecond: number; addresses: number },
): Promise<Traffic> {
  const keys = Array.from({ length: addresses }, (_, i) =>
    i < users.length ? user(i) : keypairOf(new Uint8Array(32).fill(100 + i)),
  )
  const coins: Coin[] = []
  let paid = 0
  let lastSlot = 0
  let isStopped = false
  for (const coin of await genesisCoins(target.url)) await pay(await offerOf(target.url), coin)
  const running = Promise.all(Array.from({ length: concurrency }, run))

  async function run(): Promise<void> {
    let offer: Offer | undefined
    for (let tries = 1; !isStopped; tries++) {
      // The tips and the commitment become outdated.
      if (tries % 10 === 0) offer = undefined
      offer ??= await offerOf(target.url).catch(() => undefined)
      const index = random.between(0, coins.length - 1)
      const [coin] = offer === undefined ? [] : coins.splice(index, 1)
      if (offer !== undefined && coin !== undefined && (await pay(offer, coin))) paid++
      // The gateway is unavailable, or its clock was moved.
      else offer = undefined
      await delay((1_000 * concurrency) / perSecond)
    }
  }

  async function pay(offer: Offer, coin: Coin): Promise<boolean> {
    const { parameters } = offer.network
    const issuingTime = BigInt(Date.now() + target.offsetMs()) * 1_000_000n
    const creationSlot = slotOfTime(parameters, issuingTime)
    const count = coin.amount > 50_000_000n ? 100 : coin.amount > 4_000_000n ? 8 : 1
    const part = coin.amount / BigInt(count)
    const owners = Array.from(
      { length: count },
      () => keys[random.between(0, keys.length - 1)] ?? coin.key,
    )
    const amounts = owners.map((_, i) => (i === 0 ? coin.amount - part * BigInt(count - 1) : part))
    const outputs = owners.map((key, i) => ownedBy(key, amounts[i] ?? part))
    const payment = paymentOf(offer.network, {
      spend: coin.outputId,
      key: coin.key,
      outputs,
      creationSlot,
    })
    const { bytes } = blockOf(offer, payment.payload, { header: { issuingTime } })
    const { isAccepted, isCertain } = await post(bytes)
    if (!isAccepted) {
      // The block was refused, so the coin is unspent, unless the response to an earlier attempt was lost.
      if (isCertain) coins.push(coin)
      return false
    }
    lastSlot = Math.max(lastSlot, creationSlot)
    for (const [i, outputId] of payment.created.entries()) {
      const key = owners[i]
      const amount = amounts[i]
      if (key !== undefined && amount !== undefined) coins.push({ outputId, key, amount })
    }
    return true
  }

  /** Sends a block until the gateway responds. A repetition has no effect, because it has the same block id. */
  async function post(
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ isAccepted: boolean; isCertain: boolean }> {
    for (let isCertain = true; !isStopped; isCertain = false) {
      try {
        const response = await postBytes(target.url, bytes)
        await response.text()
        return { isAccepted: response.status === 201, isCertain }
      } catch {
        await delay(50)
      }
    }
    return { isAccepted: false, isCertain: false }
  }

  return {
    addresses: keys.map(addressOf),
    paid: () => paid,
    lastSlot: () => lastSlot,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}
