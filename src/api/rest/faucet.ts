import { bodyObject, bodyValue, optionalBody } from '../../lib/json-body.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { maxUint64 } from '../../protocol/primitives.ts'
import type {
  Faucet,
  FaucetError,
  FaucetPaymentFailed,
  FaucetRequest,
  RequestedPayment,
} from '../../service/faucet/faucet-requests.ts'
import { settledWithin } from '../../service/faucet/settled-within.ts'
import type { BodyError, FaucetRequestMalformed } from '../errors/api-errors.ts'
import { faucetCost } from '../graphql/execution/prices.ts'
import { readJson } from './body.ts'
import { about, bech32, count, id, object, uint64 } from './form.ts'
import { seconds } from './parameters.ts'
import { jsonReply } from './reply.ts'
import type { RestRequest } from './request.ts'
import type { RestResponse } from './response.ts'
import { route } from './route.ts'

const receiver = about('The address as requested.', bech32)

const paid = jsonReply(
  'The payment is booked.',
  object({ address: receiver, transactionId: id('TransactionId') }),
)

const waiting = jsonReply(
  'The request is queued, and will be paid soon.',
  object({
    address: receiver,
    waitingRequests: about('Number of queued requests, including this one.', count),
  }),
)

const faucetBody = bodyObject({
  address: bodyValue(
    about('The receiver: an address of this network in Bech32.', bech32).shape,
    'the Bech32 address of the receiver',
    (json) => typeof json === 'string',
  ),
  amount: optionalBody(
    bodyValue(
      about(
        'Amount in base tokens. Without it, the faucet chooses the amount by the balance of the address.',
        uint64,
      ).shape,
      'base tokens as a decimal string of at most 64 bits',
      (json): json is string =>
        typeof json === 'string' && /^[0-9]{1,20}$/.test(json) && BigInt(json) <= maxUint64,
    ),
  ),
})

/** Requests base tokens from the faucet of the development network (rest.md 7). */
export const faucetRoute = route({
  method: 'POST',
  path: '/api/enqueue',
  about: 'Requests base tokens from the faucet of the development network.',
  query: { wait: seconds('Seconds to wait for the payment.') },
  body: { 'application/json': faucetBody.shape },
  answers: { 200: paid, 202: waiting },
  errors: [404, 413, 429, 503],
  cost: faucetCost,
  answer: async ({ wait }, { faucet }, request) => {
    if (faucet === undefined) return err({ code: 'FAUCET_MISSING' })
    const requested = await readRequestedPayment(request)
    if (!requested.ok) return requested
    if (wait === 0) {
      const accepted = await faucet.enqueue(requested.value)
      return accepted.ok ? ok(queued(request, accepted.value)) : accepted
    }
    const settled = await request.wait((signal) =>
      paidWithin(faucet, requested.value, { seconds: wait, signal, request }),
    )
    return settled.ok ? settled.value : settled
  },
})

function queued(request: RestRequest, { address, waitingRequests }: FaucetRequest): RestResponse {
  return waiting.respond(request, { address, waitingRequests }, { status: 202 })
}

/** Waits for the payment. Responds with its transaction, or with the queued request if the wait times out. */
async function paidWithin(
  faucet: Faucet,
  payment: RequestedPayment,
  options: {
    readonly seconds: number
    readonly signal: AbortSignal
    readonly request: RestRequest
  },
): Promise<Result<RestResponse, FaucetError | FaucetPaymentFailed>> {
  const { seconds, signal, request } = options
  const accepted = await faucet.enqueue(payment)
  if (!accepted.ok) return accepted
  const transactionId = await settledWithin(accepted.value, { seconds, signal })
  if (transactionId === undefined) return ok(queued(request, accepted.value))
  if (!transactionId.ok) return transactionId
  const { address } = accepted.value
  return ok(paid.respond(request, { address, transactionId: transactionId.value }))
}

async function readRequestedPayment(
  request: RestRequest,
): Promise<Result<RequestedPayment, BodyError | FaucetRequestMalformed>> {
  const json = await readJson(request)
  if (!json.ok) return json
  const payment = faucetBody.read(json.value, 'body')
  if (!payment.ok) return err({ code: 'FAUCET_REQUEST_MALFORMED', ...payment.error })
  const { address, amount } = payment.value
  return ok({ address, amount: amount === undefined ? undefined : BigInt(amount) })
}
