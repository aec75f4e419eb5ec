import { setTimeout as delay } from 'node:timers/promises'
import { totalOf } from '../../ledger/balances-of-address.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { Address, Ed25519Address } from '../../protocol/addresses.ts'
import { decodeBech32 } from '../../protocol/bech32.ts'
import { addressKey, identifyTransaction } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { Keypair } from '../../protocol/keys.ts'
import { BasicOutput } from '../../protocol/outputs.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import { decode, print } from '../../protocol/schema/schema.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import { SignedTransaction } from '../../protocol/transaction.ts'
import { type AddressError, addressKeyOf } from '../addresses/address-key.ts'
import { viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { submitBlock } from '../submit/submit-block.ts'
import type {
  Faucet,
  FaucetError,
  FaucetPaymentFailed,
  FaucetQuestion,
  FaucetRequest,
} from './faucet-requests.ts'
import { leastAmount, signTransfer, spendable, type TransferPayment } from './transfer.ts'

/** Gives base tokens of the development network on request, within limits (rest.md 7). */

/** What the faucet uses of the services. */
export type FaucetServices = Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>

/** How the faucet pays. */
export interface FaucetOptions {
  /** The key that holds the funds. */
  readonly key: Keypair
  readonly log: Log
}

interface Paying extends FaucetServices, FaucetOptions {}

/** Base tokens for an address that has less than that. */
export const faucetAmount = 1_000_000_000n

/** Base tokens for one that has more. */
export const faucetSmallAmount = 100_000_000n

/** An address that has so many base tokens gets none. */
export const faucetTarget = 5_000_000_000n

/** The most requests that wait. */
const mostWaiting = 1_000

/** Receivers of one transaction, which has 128 outputs at most. */
const mostReceivers = 100

interface Waiting extends TransferPayment {
  /** Of the address, where the amount was left to the faucet; `undefined` where it was named. */
  readonly key: Hex | undefined
  settle(outcome: Outcome): void
}

type Outcome = Result<TransactionId, FaucetPaymentFailed>

/** Opens the faucet. */
export function openFaucet(services: FaucetServices, options: FaucetOptions): Faucet {
  const deps = { ...services, ...options }
  const waiting = new Set<Waiting>()
  const closed = new AbortController()
  let paying: Promise<void> | undefined

  async function enqueue(request: FaucetQuestion): Promise<Enqueued> {
    const due = await paymentFor(deps, request)
    return due.ok ? take(request.address, due.value) : due
  }

  /** Nothing is awaited here, so that an address waits once and no more than `mostWaiting` wait. */
  function take(address: string, payment: Due): Enqueued {
    const { key } = payment
    const isWaiting = key !== undefined && [...waiting].some((one) => one.key === key)
    if (isWaiting) return err({ code: 'FAUCET_REQUEST_WAITING', address })
    if (waiting.size >= mostWaiting) return err({ code: 'FAUCET_BUSY', waiting: waiting.size })
    const settled = new Promise<Outcome>((settle) => waiting.add({ ...payment, settle }))
    paying ??= payAll().finally(() => {
      paying = undefined
    })
    return ok({ address, waitingRequests: waiting.size, settled })
  }

  async function payAll(): Promise<void> {
    while (waiting.size > 0 && !closed.signal.aborted) {
      await payBatch([...waiting].slice(0, mostReceivers))
    }
  }

  async function payBatch(batch: readonly Waiting[]): Promise<void> {
    const outcome = await payTogether(deps, batch, closed.signal)
    if (!outcome.ok && outcome.error.reason === 'FUNDS_MISSING' && batch.length > 1) {
      // A request for more than there is does not fail the other requests of its batch.
      for (const one of batch) await payBatch([one])
      return
    }
    if (!outcome.ok) {
      const { reason } = outcome.error
      deps.log.error('faucet-failed', { outcome: reason, requests: batch.length })
    }
    for (const one of batch) {
      waiting.delete(one)
      one.settle(outcome)
    }
  }

  return {
    enqueue,
    close: async () => {
      closed.abort()
      await paying
      for (const one of waiting) one.settle(unpaid('CLOSING'))
    },
  }
}

type Enqueued = Result<FaucetRequest, FaucetError>
type Due = Omit<Waiting, 'settle'>

/** What a request is paid: the amount that it names, or one that depends on what the address owns. */
async function paymentFor(
  { store, source }: FaucetServices,
  { address, amount }: FaucetQuestion,
): Promise<Result<Due, FaucetError>> {
  const receiver = receiverOf({ source }, address)
  if (!receiver.ok) return receiver
  const unavailable = source.unavailable()
  if (unavailable !== undefined) return err(unavailable)
  const { key, to } = receiver.value
  if (amount !== undefined) {
    const least = leastAmount(source.network.parameters, to)
    if (amount < least) return err({ code: 'FAUCET_AMOUNT_TOO_SMALL', least })
    return ok({ key: undefined, to, amount })
  }
  const owned = totalOf((await store.read.balance(key)).balance)
  if (owned >= faucetTarget) {
    return err({ code: 'FAUCET_FUNDS_ENOUGH', address, limit: faucetTarget })
  }
  return ok({ key, to, amount: owned >= faucetAmount ? faucetSmallAmount : faucetAmount })
}

function receiverOf(
  { source }: Pick<FaucetServices, 'source'>,
  text: string,
): Result<{ readonly key: Hex; readonly to: Address }, AddressError> {
  const argument = 'address'
  const key = addressKeyOf(source.network.parameters.bech32Hrp, text, argument)
  if (!key.ok) return key
  const bech32 = decodeBech32(text)
  const to = bech32.ok ? decode(Address, bech32.value.bytes) : bech32
  // The reference of a multi address can be looked up, but nothing can be sent to it.
  if (!to.ok) return err({ code: 'ADDRESS_MALFORMED', argument, reason: to.error.code })
  return ok({ key: key.value, to: to.value })
}

/** How often a payment is tried: another gateway on the database has a faucet with the same key and may spend the output first. */
const attempts = 8

async function payTogether(
  deps: Paying,
  payments: readonly Waiting[],
  signal: AbortSignal,
): Promise<Outcome> {
  let outcome = unpaid('CLOSING')
  try {
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      outcome = await payOnce(deps, payments, signal)
      if (outcome.ok || outcome.error.reason === 'FUNDS_MISSING') break
    }
  } catch (error) {
    // These clients can ask again; the faucet goes on with the next requests.
    deps.log.error('faucet-failed', { error, requests: payments.length })
    return unpaid('INTERNAL')
  }
  return outcome
}

function unpaid(reason: string): Outcome {
  return err({ code: 'FAUCET_PAYMENT_FAILED', reason })
}

async function payOnce(
  deps: Paying,
  payments: readonly Waiting[],
  signal: AbortSignal,
): Promise<Outcome> {
  const { source, clock, key: from } = deps
  const { parameters } = source.network
  const owner: Address = { type: Ed25519Address.code, pubKeyHash: from.publicKeyHash }
  const filter = { asOf: 'BOOKED', heldBy: addressKey(owner), kinds: [0] } as const
  const rows = await deps.store.read.unspentOutputs({ filter, limit: mostReceivers })
  const amount = payments.reduce((sum, payment) => sum + payment.amount, 0n)
  const outputs = rows.map(viewOfOutput).flatMap(({ outputId, output: decoded }) => {
    const output = decoded()
    return is(BasicOutput, output) ? [{ outputId, output }] : []
  })
  const input = spendable(parameters, outputs, { from: owner, amount })
  if (input === undefined) return unpaid('FUNDS_MISSING')
  const slot = slotOfTime(parameters, clock.nowNs())
  const payload = signTransfer({ parameters, from, payments, input, slot })
  const json = print(SignedTransaction, payload)
  const submitted = await submitBlock(deps, { form: 'payload', json })
  if (!submitted.ok) return unpaid(submitted.error.code)
  return await verdict(deps, identifyTransaction(payload.transaction).transactionId, signal)
}

const lookEveryMs = 20

async function verdict(
  { store }: FaucetServices,
  id: TransactionId,
  signal: AbortSignal,
): Promise<Outcome> {
  while (!signal.aborted) {
    const row = await store.read.transaction(id)
    if (row?.state === 'FAILED') return unpaid('TRANSACTION_FAILED')
    if (row !== undefined && row.state !== 'PENDING') return ok(id)
    await delay(lookEveryMs)
  }
  return unpaid('CLOSING')
}
