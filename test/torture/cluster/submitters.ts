import { setTimeout as delay } from 'node:timers/promises'
import type { Keypair } from '../../../src/protocol/keys.ts'
import type {
  BlockId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../../src/protocol/primitives.ts'
import type { Payload } from '../../../src/protocol/transaction.ts'
import type { Random } from '../../support/random.ts'
import {
  blockOf,
  genesisOutputs,
  isFresh,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
  user,
  users,
} from '../../support/wallet.ts'

/** Clients that submit blocks to all gateways in turn, and keep a record of what was acknowledged. */

/** A block that was acknowledged. */
export interface Acknowledged {
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly payment: AcknowledgedPayment | undefined
}

/** What the transaction of such a block must have done, once. */
export interface AcknowledgedPayment {
  readonly transactionId: TransactionId
  readonly spent: OutputId
  readonly created: readonly OutputId[]
}

/** Clients at work. */
export interface Submitters {
  readonly acknowledged: readonly Acknowledged[]
  readonly counts: SubmitCounts
  /** What no gateway should have said. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

/** How it went. */
export interface SubmitCounts {
  /** Blocks that had to be sent again, often to another gateway. */
  retried: number
  /** Blocks that found their slot closed when they were sent again, and never were acknowledged. */
  late: number
}

/** How much, and where to. */
export interface SubmitOptions {
  readonly urls: readonly [string, ...string[]]
  readonly perSecond: number
  readonly random: Random
}

/** An output that can be spent. */
interface Coin {
  readonly outputId: OutputId
  readonly owner: number
  readonly amount: bigint
}

/** Clients that send at once. */
const clients = 16
/** Every block of this many carries a transaction. */
const blocksPerPayment = 4
const coinsOfEach = 100
const answerMs = 3_000
/** After so long without an answer a client has been forgotten. */
const patienceMs = 90_000

/** Splits what the users have, so that many can pay at once, and begins. */
export async function startSubmitters({
  urls,
  perSecond,
  random,
}: SubmitOptions): Promise<Submitters> {
  const acknowledged: Acknowledged[] = []
  const counts: SubmitCounts = { retried: 0, late: 0 }
  const faults: string[] = []
  const coins: Coin[] = []
  let serial = 0
  let isOver = false
  for (let owner = 1; owner < users.length; owner++) await split(owner)
  const running = Promise.all(Array.from({ length: clients }, run))

  async function split(owner: number): Promise<void> {
    const offer = await offerOf(urls[0])
    const [outputId] = await genesisOutputs(urls[0], user(owner))
    if (outputId === undefined) throw new Error('no genesis output')
    const coin = { outputId, owner, amount: 1_000_000_000n }
    const amount = coin.amount / BigInt(coinsOfEach)
    await pay(
      offer,
      coin,
      Array.from({ length: coinsOfEach }, () => ({ owner, amount })),
    )
  }

  async function run(): Promise<void> {
    let offer: Offer | undefined
    for (let tries = 1; !isOver; tries++) {
      // Tips and commitments grow old, also while one block is sent again and again.
      if (tries % 12 === 0 || (offer !== undefined && !isFresh(offer))) offer = undefined
      offer ??= await within(offerOf(anyUrl()))
      if (offer !== undefined) await submitNext(offer)
      await delay((1_000 * clients) / perSecond)
    }
  }

  async function submitNext(offer: Offer): Promise<void> {
    serial++
    const coin = serial % blocksPerPayment === 0 ? takeCoin() : undefined
    if (coin !== undefined) {
      const owner = random.between(0, users.length - 1)
      return pay(offer, coin, [{ owner, amount: coin.amount }])
    }
    const data = taggedData('0x636c7573746572', `0x${serial.toString(16).padStart(8, '0')}`)
    await submit(offer, data, undefined)
  }

  function takeCoin(): Coin | undefined {
    return coins.splice(random.between(0, coins.length - 1), 1)[0]
  }

  async function pay(
    offer: Offer,
    coin: Coin,
    parts: readonly { readonly owner: number; readonly amount: bigint }[],
  ): Promise<void> {
    const { outputId: spend, owner } = coin
    const key: Keypair = user(owner)
    const outputs = parts.map((part) => ownedBy(user(part.owner), part.amount))
    const creationSlot = slotNow(offer.network)
    const made = paymentOf(offer.network, { spend, key, outputs, creationSlot })
    const { transactionId, created } = made
    const kept = await submit(offer, made.payload, { transactionId, spent: spend, created })
    if (kept === 'NO') coins.push(coin)
    if (kept !== 'YES') return
    // Its block stands in the inbox, so whatever spends these comes after it.
    for (const [i, outputId] of created.entries()) {
      const part = parts[i]
      if (part !== undefined) coins.push({ outputId, ...part })
    }
  }

  /** Sends the same bytes until somebody answers for them. */
  async function submit(
    offer: Offer,
    payload: Payload,
    payment: AcknowledgedPayment | undefined,
  ): Promise<'YES' | 'NO' | 'UNKNOWN'> {
    const slot = slotNow(offer.network)
    const { bytes, blockId } = blockOf(offer, payload)
    const begun = performance.now()
    let isCertain = true
    for (let attempt = 1; performance.now() - begun < patienceMs; attempt++) {
      const answer = await send(anyUrl(), bytes)
      if (answer?.status === 201) {
        acknowledged.push({ blockId, slot, payment })
        return 'YES'
      }
      if (answer?.status === 400) {
        if (attempt > 1 || answer.text.includes('already committed')) counts.late++
        else faults.push(`a block was refused: ${answer.text}`)
        return isCertain ? 'NO' : 'UNKNOWN'
      }
      if (answer !== undefined && answer.status !== 503) {
        faults.push(`a submission was answered ${answer.status}: ${answer.text}`)
      }
      if (attempt === 1) counts.retried++
      isCertain = false
      await delay(random.between(20, 300))
    }
    faults.push(`nobody answered for ${blockId}`)
    return 'UNKNOWN'
  }

  function anyUrl(): string {
    return urls[random.between(0, urls.length - 1)] ?? urls[0]
  }

  return {
    acknowledged,
    counts,
    faults,
    stop: async () => {
      isOver = true
      await running
    },
  }
}

/** The answer, or nothing when the gateway is dead, paused or cut off. */
async function send(
  url: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  try {
    const response = await fetch(`${url}/api/core/v3/blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
      body,
      signal: AbortSignal.timeout(answerMs),
    })
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

/** Nothing in place of an answer that fails, or that a paused process owes. */
function within<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer, delay(answerMs, undefined)]).catch(() => undefined)
}
