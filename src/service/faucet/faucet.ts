import { setTimeout as delay } from 'node:timers/promises'
import { totalOf } from '../../ledger/balances-of-address.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
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
import type { OutputPosition } from '../../store/contract/view.ts'
import { isStoreFault } from '../../store/faults.ts'
import { type AddressError, addressKeyOf } from '../addresses/address-key.ts'
import { viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { submitBlock } from '../submit/submit-block.ts'
import type {
  Faucet,
  FaucetError,
  FaucetPaymentFailed,
  FaucetRequest,
  RequestedPayment,
} from './faucet-requests.ts'
import {
  minAmount,
  signTransfer,
  spendable,
  type Transfer,
  type TransferPayment,
} from './transfer.ts'

/** The faucet of the development network: pays base tokens on request, within limits (rest.md 7). */

export type FaucetServices = Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>

/** The key and the log of the faucet. */
export interface FaucetOptions {
  /** The key that holds the funds. */
  readonly key: Keypair
  readonly log: Log
}

interface Paying extends FaucetServices, FaucetOptions {}

/** Base tokens that an address receives if it has fewer than this amount. */
export const faucetAmount = 1_000_000_000n

/** Base tokens that an address receives if it has `faucetAmount` or more. */
export const faucetSmallAmount = 100_000_000n

/** Base tokens of an address from which requests without an amount are refused. */
export const faucetTarget = 5_000_000_000n

/** Maximum number of waiting requests. */
const maxWaiting = 1_000

/** Maximum number of receivers of one transaction, which can have 128 outputs. */
const maxReceivers = 100

interface Waiting extends TransferPayment {
  /** Key of the address if the request has no amount; `undefined` if it states one. */
  readonly key: Hex | undefined
  settle(outcome: Outcome): void
}

type Outcome = Result<TransactionId, FaucetPaymentFailed>

/** Opens the faucet; `close` settles the waiting requests as unpaid. */
export function openFaucet(services: FaucetServices, options: FaucetOptions): Faucet {
  const deps = { ...services, ...options }
  const waiting = new Set<Waiting>()
  const closed = new AbortController()
  let paying: Promise<void> | undefined

  async function enqueue(request: RequestedPayment): Promise<Enqueued> {
    const due = await paymentFor(deps, request)
    return due.ok ? take(request.address, due.value) : due
  }

  /** Contains no `await`, so that concurrent calls cannot queue an address twice or exceed `maxWaiting`. */
  function take(address: string, payment: Due): Enqueued {
    const { key } = payment
    const isWaiting = key !== undefined && [...waiting].some((one) => one.key === key)
    if (isWaiting) return err({ code: 'FAUCET_REQUEST_WAITING', address })
    if (waiting.size >= maxWaiting) return err({ code: 'FAUCET_BUSY', waiting: waiting.size })
    const settled = new Promise<Outcome>((settle) => waiting.add({ ...payment, settle }))
    paying ??= payAll().finally(() => {
      paying = undefined
    })
    return ok({ address, waitingRequests: waiting.size, settled })
  }

  async function payAll(): Promise<void> {
    while (waiting.size > 0 && !closed.signal.aborted) {
      await payBatch([...waiting].slice(0, maxReceivers))
    }
  }

  async function payBatch(batch: readonly Waiting[]): Promise<void> {
    const outcome = await payTogether(deps, batch, closed.signal)
    if (!outcome.ok && outcome.error.reason === 'FUNDS_MISSING' && batch.length > 1) {
      // A request for more than the available funds must not fail the other requests of its batch.
      for (const one of batch) await payBatch([one])
      return
    }
    if (!outcome.ok) {
      // No fault of the gateway: a client requests more than the faucet has, or the ledger takes no blocks at present.
      const { reason } = outcome.error
      deps.log.info('faucet-unpaid', { reason, requests: batch.length })
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

/** The payment for a request: the stated amount, or an amount that depends on the balance of the address. */
async function paymentFor(
  { store, source }: FaucetServices,
  { address, amount }: RequestedPayment,
): Promise<Result<Due, FaucetError>> {
  const receiver = receiverOf({ source }, address)
  if (!receiver.ok) return receiver
  const unavailable = source.unavailable()
  if (unavailable !== undefined) return err(unavailable)
  const { key, to } = receiver.value
  if (amount !== undefined) {
    const least = minAmount(source.network.parameters, to)
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
  // The reference of a multi address identifies the address, but an output needs the full address.
  if (!to.ok) return err({ code: 'ADDRESS_MALFORMED', argument, reason: to.error.code })
  return ok({ key: key.value, to: to.value })
}

/** Maximum attempts of a payment. Another gateway on the database has a faucet with the same key and may spend the output first. */
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
    // The clients of this batch can retry; the faucet continues with the next requests.
    if (isStoreFault(error)) return unpaid('STORE_AWAY')
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
  const amount = payments.reduce((sum, payment) => sum + payment.amount, 0n)
  const input = await fundsFor(deps, amount, signal)
  if (input === undefined) return unpaid(signal.aborted ? 'CLOSING' : 'FUNDS_MISSING')
  const slot = slotOfTime(parameters, clock.nowNs())
  const payload = signTransfer({ parameters, from, payments, input, slot })
  const json = print(SignedTransaction, payload)
  const submitted = await submitBlock(deps, { form: 'payload', json })
  if (!submitted.ok) return unpaid(submitted.error.code)
  return await verdict(deps, identifyTransaction(payload.transaction).transactionId, signal)
}

/**
 * The newest output of the faucet from which an amount can be paid. This is usually its last change. The address may have any number of
 * other outputs, which were sent to it.
 */
async function fundsFor(
  { source, store, key }: Paying,
  amount: bigint,
  signal: AbortSignal,
): Promise<Transfer['input'] | undefined> {
  const from: Address = { type: Ed25519Address.code, pubKeyHash: key.publicKeyHash }
  const filter = { asOf: 'BOOKED', heldBy: addressKey(from), kinds: [BasicOutput.code] } as const
  const newest = { filter, order: 'descending', limit: outputsPerRead } as const
  for (let before: OutputPosition | undefined; !signal.aborted; ) {
    const rows = await store.read.unspentOutputs({ ...newest, before })
    const outputs = rows.map(viewOfOutput).flatMap(({ outputId, output: decoded }) => {
      const output = decoded()
      return is(BasicOutput, output) ? [{ outputId, output }] : []
    })
    const input = spendable(source.network.parameters, outputs, { from, amount })
    if (input !== undefined || rows.length < outputsPerRead) return input
    before = rows.at(-1)
    await passTurn()
  }
  return undefined
}

/** Number of outputs of the faucet that are read at once. */
const outputsPerRead = 100

const pollIntervalMs = 20

async function verdict(
  { store }: FaucetServices,
  id: TransactionId,
  signal: AbortSignal,
): Promise<Outcome> {
  while (!signal.aborted) {
    const row = await store.read.transaction(id)
    if (row?.state === 'FAILED') return unpaid('TRANSACTION_FAILED')
    if (row !== undefined && row.state !== 'PENDING') return ok(id)
    await delay(pollIntervalMs)
  }
  return unpaid('CLOSING')
}
