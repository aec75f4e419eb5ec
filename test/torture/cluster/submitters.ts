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

/** Clients that submit blocks to random gateways and record the acknowledged ones. */

/** A block that was acknowledged. */
export interface Acknowledged {
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly payment: AcknowledgedPayment | undefined
}

/** The effect of the transaction of an acknowledged block, which must be booked exactly once. */
export interface AcknowledgedPayment {
  readonly transactionId: TransactionId
  readonly spent: OutputId
  readonly created: readonly OutputId[]
}

/** The running clients. */
export interface Submitters {
  readonly acknowledged: readonly Acknowledged[]
  readonly counts: SubmitCounts
  /** Responses that no gateway may send. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

/** Counts blocks that were not acknowledged at once. */
export interface SubmitCounts {
  /** The number of blocks that were sent again, often to another gateway. */
  retried: number
  /** The number of blocks that were refused after a repetition, or because their slot was already committed. */
  late: number
}

/** The gateways, the rate and the random choices. */
export interface SubmitOptions {
  readonly urls: readonly [string, ...string[]]
  readonly perSecond: number
  readonly random: Random
}

/** An unspent output with its owner. */
interface Coin {
  readonly outputId: OutputId
  readonly owner: number
  readonly amount: bigint
}

/** The number of clients. */
const clients = 16
/** One block of this many contains a transaction. */
const blocksPerPayment = 4
const coinsPerUser = 100
const requestTimeoutMs = 3_000
/** After this time without an acknowledgement or a refusal, a block counts as a fault. */
const submitTimeoutMs = 90_000

/** Splits the outputs of the users, so that many payments can be in progress at once, and starts the clients. */
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
  let isStopped = false
  for (let owner = 1; owner < users.length; owner++) await split(owner)
  const running = Promise.all(Array.from({ length: clients }, run))

  async function split(owner: number): Promise<void> {
    const offer = await offerOf(urls[0])
    const [outputId] = await genesisOutputs(urls[0], user(owner))
    if (outputId === undefined) throw new Error('no genesis output')
    const coin = { outputId, owner, amount: 1_000_000_000n }
    const amount = coin.amount / BigInt(coinsPerUser)
    await pay(
      offer,
      coin,
      Array.from({ length: coinsPerUser }, () => ({ owner, amount })),
    )
  }

  async function run(): Promise<void> {
    let offer: Offer | undefined
    for (let tries = 1; !isStopped; tries++) {
      // Tips and commitments become outdated, also while one block is sent repeatedly.
      if (tries % 12 === 0 || (offer !== undefined && !isFresh(offer))) offer = undefined
      offer ??= await unlessLate(offerOf(anyUrl()))
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
    const signed = paymentOf(offer.network, { spend, key, outputs, creationSlot })
    const { transactionId, created } = signed
    const isAccepted = await submit(offer, signed.payload, { transactionId, spent: spend, created })
    if (isAccepted === 'NO') coins.push(coin)
    if (isAccepted !== 'YES') return
    // Its block is in the inbox, so a block that spends these outputs is processed after it.
    for (const [i, outputId] of created.entries()) {
      const part = parts[i]
      if (part !== undefined) coins.push({ outputId, ...part })
    }
  }

  /** Sends the same bytes until a gateway accepts or refuses them. */
  async function submit(
    offer: Offer,
    payload: Payload,
    payment: AcknowledgedPayment | undefined,
  ): Promise<'YES' | 'NO' | 'UNKNOWN'> {
    const slot = slotNow(offer.network)
    const { bytes, blockId } = blockOf(offer, payload)
    const start = performance.now()
    let isCertain = true
    for (let attempt = 1; performance.now() - start < submitTimeoutMs; attempt++) {
      const response = await send(anyUrl(), bytes)
      if (response?.status === 201) {
        acknowledged.push({ blockId, slot, payment })
        return 'YES'
      }
      if (response?.status === 400) {
        if (attempt > 1 || response.text.includes('already committed')) counts.late++
        else faults.push(`a block was refused: ${response.text}`)
        return isCertain ? 'NO' : 'UNKNOWN'
      }
      if (response !== undefined && response.status !== 503) {
        faults.push(`a submission was answered with ${response.status}: ${response.text}`)
      }
      if (attempt === 1) counts.retried++
      isCertain = false
      await delay(random.between(20, 300))
    }
    faults.push(`no gateway accepted or refused ${blockId}`)
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
      isStopped = true
      await running
    },
  }
}

/** Returns the response, or `undefined` if the gateway is stopped, paused or unreachable. */
async function send(
  url: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  try {
    const response = await fetch(`${url}/api/core/v3/blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
      body,
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

/** Returns `undefined` if the promise fails or the timeout passes; a paused process does not respond. */
function unlessLate<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, delay(requestTimeoutMs, undefined)]).catch(() => undefined)
}
