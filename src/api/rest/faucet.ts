import { setTimeout as delay } from 'node:timers/promises'
import { err, ok, type Result } from '../../lib/result.ts'
import type {
  Faucet,
  FaucetError,
  FaucetPaymentFailed,
  FaucetQuestion,
  FaucetRequest,
} from '../../service/faucet/faucet-requests.ts'
import type { BodyError, FaucetRequestMalformed, QueryParameterMalformed } from '../api-errors.ts'
import { toRest } from '../errors.ts'
import { checkContentType, parseJson } from './body.ts'
import { about, bech32, count, named, object, optional, uint64 } from './openapi/shape.ts'
import { malformed } from './query.ts'
import { json, type RestRequest, type RestResponse, type Route } from './route.ts'

/** How long a client may wait for the payment, in seconds. */
const longestWait = 60

/** Asks the faucet of the development network for base tokens (rest.md 7). */
export const faucetRoute: Route = {
  method: 'POST',
  path: '/api/enqueue',
  about: 'Asks the faucet of the development network for base tokens.',
  query: {
    wait: about('How many seconds to wait for the payment.', {
      ...count,
      maximum: longestWait,
      default: 0,
    }),
  },
  body: {
    'application/json': object({
      address: about('Bech32 text of the receiver, of this network.', bech32),
      amount: optional(
        about('Base tokens; left out: what the faucet gives, by what the address has.', uint64),
      ),
    }),
  },
  answers: {
    200: {
      about: 'It is paid: the transaction is booked.',
      json: object({
        address: about('As it was asked with.', bech32),
        transactionId: named('TransactionId'),
      }),
    },
    202: {
      about: 'The request waits, and is paid soon.',
      json: object({
        address: about('As it was asked with.', bech32),
        waitingRequests: about('How many wait now, this one included.', count),
      }),
    },
  },
  errors: [404, 413, 429, 503],
  answer: async (request, { faucet }) => {
    if (faucet === undefined) return toRest({ code: 'FAUCET_MISSING' })
    const wait = readWait(request.query.get('wait') ?? '0')
    if (!wait.ok) return toRest(wait.error)
    const question = await readQuestion(request)
    if (!question.ok) return toRest(question.error)
    if (wait.value === 0) {
      const taken = await faucet.enqueue(question.value)
      return taken.ok ? waits(taken.value) : toRest(taken.error)
    }
    const paid = await request.listen((signal) =>
      paidWithin(faucet, question.value, { seconds: wait.value, signal }),
    )
    if (!paid.ok) return toRest(paid.error)
    return paid.value.ok ? paid.value.value : toRest(paid.value.error)
  },
}

function waits({ address, waitingRequests }: FaucetRequest): RestResponse {
  return json(202, { address, waitingRequests })
}

/** Answers with the transaction where it comes in time. */
async function paidWithin(
  faucet: Faucet,
  question: FaucetQuestion,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Result<RestResponse, FaucetError | FaucetPaymentFailed>> {
  const taken = await faucet.enqueue(question)
  if (!taken.ok) return taken
  const over = new AbortController()
  const late = delay(seconds * 1_000, undefined, {
    signal: AbortSignal.any([signal, over.signal]),
  }).catch(() => undefined)
  const paid = await Promise.race([taken.value.settled, late])
  over.abort()
  if (paid === undefined) return ok(waits(taken.value))
  if (!paid.ok) return paid
  return ok(json(200, { address: taken.value.address, transactionId: paid.value }))
}

function readWait(text: string): Result<number, QueryParameterMalformed> {
  const seconds = /^[0-9]{1,2}$/.test(text) ? Number(text) : longestWait + 1
  return seconds > longestWait ? malformed('wait', `0 to ${longestWait} seconds`) : ok(seconds)
}

async function readQuestion(
  request: RestRequest,
): Promise<Result<FaucetQuestion, BodyError | FaucetRequestMalformed>> {
  const type = checkContentType(request.headers['content-type'], 'application/json')
  if (!type.ok) return type
  const body = await request.body()
  if (!body.ok) return body
  const value = parseJson(body.value)
  if (!value.ok) return value
  const { address, amount } = Object(value.value)
  if (typeof address !== 'string') {
    return misread('address', 'the Bech32 text of the receiver')
  }
  if (amount === undefined) return ok({ address, amount })
  const isCount = typeof amount === 'string' && /^[0-9]{1,20}$/.test(amount)
  if (!isCount || BigInt(amount) > mostTokens) {
    return misread('amount', 'base tokens as the decimal text of 64 bits')
  }
  return ok({ address, amount: BigInt(amount) })
}

const mostTokens = 2n ** 64n - 1n

function misread(
  member: FaucetRequestMalformed['member'],
  expected: string,
): Result<never, FaucetRequestMalformed> {
  return err({ code: 'FAUCET_REQUEST_MALFORMED', member, expected })
}
