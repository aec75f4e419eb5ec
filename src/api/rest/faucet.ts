import { err, ok, type Result } from '../../lib/result.ts'
import { toRest } from '../errors.ts'
import { type BodyError, checkContentType, parseJson } from './body.ts'
import { about, bech32, count, object } from './openapi/shape.ts'
import { json, type RestRequest, type Route } from './route.ts'

/** This gateway has no faucet: only one that keeps the ledger of a development network has. */
export interface FaucetMissing {
  readonly code: 'FAUCET_MISSING'
}

/** A body without an address. */
export interface FaucetRequestMalformed {
  readonly code: 'FAUCET_REQUEST_MALFORMED'
}

/** Asks the faucet of the development network for base tokens (rest.md 7). */
export const faucetRoute: Route = {
  method: 'POST',
  path: '/api/enqueue',
  about: 'Asks the faucet of the development network for base tokens.',
  body: {
    'application/json': object({
      address: about('Bech32 text of the receiver, of this network.', bech32),
    }),
  },
  answers: {
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
    const address = await readAddress(request)
    if (!address.ok) return toRest(address.error)
    const taken = await faucet.enqueue(address.value)
    return taken.ok ? json(202, taken.value) : toRest(taken.error)
  },
}

async function readAddress(
  request: RestRequest,
): Promise<Result<string, BodyError | FaucetRequestMalformed>> {
  const type = checkContentType(request.headers['content-type'], 'application/json')
  if (!type.ok) return type
  const body = await request.body()
  if (!body.ok) return body
  const value = parseJson(body.value)
  if (!value.ok) return value
  const { address } = Object(value.value)
  return typeof address === 'string' ? ok(address) : err({ code: 'FAUCET_REQUEST_MALFORMED' })
}
