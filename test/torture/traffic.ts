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

/** Money that moves all the time between some addresses, whatever happens to the gateway. */

/** Payments that go on. */
export interface Traffic {
  /** The addresses between which it moves, as Bech32 text. */
  readonly addresses: readonly string[]
  /** Payments that were acknowledged so far. */
  paid(): number
  /** The last slot that a payment was acknowledged in. */
  lastSlot(): number
  stop(): Promise<void>
}

/** What the traffic needs to know of the gateway. */
export interface TrafficTarget {
  readonly url: string
  offsetMs(): number
}

/** What the users got at genesis. The first one owns the account that issues the blocks too, and is left alone. */
async function changeFrom(url: string): Promise<Coin[]> {
  const coins: Coin[] = []
  for (const key of users.slice(1)) {
    const [outputId] = await genesisOutputs(url, key)
    if (outputId !== undefined) coins.push({ outputId, key, amount: 1_000_000_000n })
  }
  return coins
}

/** Payments that are under way at once. */
const payers = 8

/** An output that can be spent. */
interface Coin {
  readonly outputId: OutputId
  readonly key: Keypair
  readonly amount: bigint
}

/** Starts as many payments a second as the gateway and the machine take, at most `perSecond`. */
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
  let isOver = false
  for (const coin of await changeFrom(target.url)) await pay(await offerOf(target.url), coin)
  const running = Promise.all(Array.from({ length: payers }, run))

  async function run(): Promise<void> {
    let offer: Offer | undefined
    for (let tries = 1; !isOver; tries++) {
      // The tips and the commitment grow old.
      if (tries % 10 === 0) offer = undefined
      offer ??= await offerOf(target.url).catch(() => undefined)
      const index = random.between(0, coins.length - 1)
      const [coin] = offer === undefined ? [] : coins.splice(index, 1)
      if (offer !== undefined && coin !== undefined && (await pay(offer, coin))) paid++
      // The gateway is away, or the clock was moved.
      else offer = undefined
      await delay((1_000 * payers) / perSecond)
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
    const { isKept, isCertain } = await post(bytes)
    if (!isKept) {
      // Refused, so the coin is as it was, unless an answer was lost before.
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

  /** Sends a block until there is an answer: the same block again is the same block. */
  async function post(
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ isKept: boolean; isCertain: boolean }> {
    for (let isCertain = true; !isOver; isCertain = false) {
      try {
        const response = await postBytes(target.url, bytes)
        await response.text()
        return { isKept: response.status === 201, isCertain }
      } catch {
        await delay(50)
      }
    }
    return { isKept: false, isCertain: false }
  }

  return {
    addresses: keys.map(addressOf),
    paid: () => paid,
    lastSlot: () => lastSlot,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
