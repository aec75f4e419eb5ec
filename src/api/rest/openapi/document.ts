import { Block } from '../../../protocol/block.ts'
import { binaryType, nodeResponses } from '../../../protocol/node-responses.ts'
import { SignedTransaction } from '../../../protocol/transaction.ts'
import { about, asItIs, named, object, type Shape, text } from '../form.ts'
import type { Parameters } from '../parameters.ts'
import type { ResponseDescription } from '../reply.ts'
import type { Route } from '../route.ts'
import { componentsOf } from './from-schema.ts'

/** The OpenAPI 3.1 document of the REST API: the declarations of all routes, and the types of the protocol. */

export function openapiDocument(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, Shape>> = {}
  for (const route of routes) {
    const methods = paths[route.path] ?? {}
    methods[route.method.toLowerCase()] = operation(route)
    paths[route.path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ledger Gateway',
      version,
      summary:
        'The REST API of a gateway to a UTXO ledger that speaks the IOTA 2.0 block protocol.',
      description:
        '64-bit numbers are decimal strings. Bytes are hexadecimal strings with the prefix 0x, in responses with ' +
        'lower-case digits. Unknown members of a request body are ignored. Every GET route also supports HEAD.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Linters require both. A route that needs a token states it.
    servers: [{ url: '/' }],
    security: [],
    paths,
    components: {
      schemas: { ...componentsOf([Block, SignedTransaction, ...nodeResponses]), Error: errorShape },
      headers: commonHeaders,
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'A JSON Web Token for this gateway, with or without the prefix `Bearer`. The cookie `jwt` is accepted too.',
        },
      },
    },
  }
}

const status = asItIs({ type: 'integer', minimum: 400, maximum: 599 })

const errorShape: Shape = object({
  error: object({
    code: about('The HTTP status.', status),
    message: about(
      'Description of the error, with the name of the invalid field if there is one.',
      text,
    ),
  }),
}).shape

/** Headers that every response may have. */
const commonHeaders: Readonly<Record<string, Shape>> = {
  'x-request-id': header('Id of the request in the log of the gateway.'),
  ratelimit: header(
    'Remaining units of the budget of the client, and seconds until the budget is full. Absent on health routes.',
  ),
  'ratelimit-policy': header(
    'Capacity of the budget in units, and seconds in which an empty budget fills.',
  ),
  'x-content-type-options': header('`nosniff`'),
  'cache-control': header(
    '`no-cache`, unless the route describes another value: a cached response must be revalidated before use.',
  ),
  'access-control-allow-origin': header('Origin whose pages may read the response; `*` for all.'),
  'access-control-expose-headers': header('Response headers that pages may read.'),
  vary: header('Request headers on which the response depends.'),
  'content-encoding': header(
    '`br` or `gzip`, if the client accepts it and compression saves bytes.',
  ),
}

function header(sentence: string): Shape {
  return { description: sentence, schema: text.shape }
}

function operation(route: Route): Shape {
  return {
    operationId: operationId(route),
    summary: route.about,
    tags: [tagOf(route.path)],
    parameters: [
      ...parametersIn('path', route.params ?? {}, true),
      ...parametersIn('query', route.query ?? {}, false),
      ...parametersIn('header', route.headers ?? {}, false),
    ],
    ...(route.body !== undefined && { requestBody: requestBody(route.body) }),
    responses: { ...successes(route), ...refusals(route) },
    ...(route.token !== undefined && {
      security: route.token === 'needed' ? [{ token: [] }] : [{}, { token: [] }],
    }),
  }
}

/** Returns an id such as `get-api-core-v3-blocks-blockId`, which is unique because method and path are. */
function operationId({ method, path }: Route): string {
  const words = path.split(/[/{}.]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].join('-')
}

/** Returns the route family of a path, such as `core/v3` or `v1`. */
function tagOf(path: string): string {
  const [first = '', ...rest] = path.split('/').slice(1)
  return first === 'api' ? rest.slice(0, 2).join('/') : first
}

function parametersIn(place: string, parameters: Parameters, required: boolean): Shape[] {
  return Object.entries(parameters).map(([name, { shape }]) => {
    const { description, ...schema } = shape
    return {
      name,
      in: place,
      required,
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

function requestBody(body: Readonly<Record<string, Shape>>): Shape {
  const content = Object.entries(body).map(([type, schema]) => [type, { schema }])
  return { required: true, content: Object.fromEntries(content) }
}

function successes({ method, answers }: Route): Record<string, Shape> {
  // A streamed response has no entity tag.
  const isRead = method === 'GET' && answers[200]?.texts === undefined
  const described = Object.entries(answers).map(([status, answer]) => {
    const tag =
      isRead && status === '200' ? { etag: 'Entity tag of the content; see `If-None-Match`.' } : {}
    const own = { ...ownHeadersByStatus[Number(status)], ...tag, ...answer.headers }
    return [status, response(withError(status, answer), own)] as const
  })
  const unchanged = response(
    { about: 'The content still has the entity tag in `If-None-Match`.' },
    { etag: 'Entity tag of the content.', ...answers[200]?.headers },
  )
  return {
    ...Object.fromEntries(described),
    ...(isRead && answers[200] !== undefined && { 304: unchanged }),
  }
}

/** An overloaded gateway answers with an error also where a route has an answer of that status, as those about health have. */
function withError(status: string, answer: ResponseDescription): ResponseDescription {
  const refusal = refusalByStatus[Number(status)]
  if (refusal === undefined || answer.json === undefined) return answer
  const json = { anyOf: [answer.json, named('Error')] }
  return { ...answer, about: `${answer.about} With an error: ${refusal}`, json }
}

function response(
  { about, json, bytes, texts = {} }: ResponseDescription,
  own: Readonly<Record<string, string>>,
): Shape {
  const headers = {
    ...Object.fromEntries(Object.keys(commonHeaders).map((name) => [name, headerRef(name)])),
    ...Object.fromEntries(Object.entries(own).map(([name, sentence]) => [name, header(sentence)])),
  }
  const content = {
    ...(json !== undefined && { 'application/json': { schema: json } }),
    ...(bytes !== undefined && { [binaryType]: { schema: { description: bytes } } }),
    ...Object.fromEntries(
      Object.entries(texts).map(([type, description]) => [
        type,
        { schema: { type: 'string', description } },
      ]),
    ),
  }
  const hasContent = Object.keys(content).length > 0
  return { description: about, headers, ...(hasContent && { content }) }
}

function headerRef(name: string): Shape {
  return { $ref: `#/components/headers/${name}` }
}

/** Descriptions of error responses by status. */
const refusalByStatus: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The request requires a valid token.',
  403: 'The caller is not allowed to do this.',
  404: 'The requested object does not exist.',
  409: 'The current state of the object does not allow this.',
  410: 'The requested data is no longer retained.',
  412: 'The current version does not match `If-Match`.',
  413: 'The body is too long.',
  415: 'The body is compressed.',
  429: 'The client has exceeded a limit.',
  500: 'Internal error. The log has the details under the request id.',
  501: 'The gateway follows an upstream node, which does not offer this.',
  503: 'The gateway cannot answer the request now.',
}

const ownHeadersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': '`Bearer`' },
  429: { 'retry-after': 'Seconds to wait before a retry.' },
  503: { 'retry-after': 'Seconds to wait before a retry.' },
}

function refusals({ errors = [], answers, body, refusals }: Route): Record<string, Shape> {
  // A route with a closed list of statuses answers 400 instead.
  const coding = body === undefined ? undefined : refusals?.statuses === undefined ? 415 : 400
  const known = [400, 429, 500, 503, ...(coding === undefined ? [] : [coding]), ...errors]
  const statuses = [...new Set(known)].filter((status) => !(status in answers))
  const described = statuses.map((status) => {
    const refusal = { about: refusalByStatus[status] ?? 'Refused.', json: named('Error') }
    const own = {
      ...ownHeadersByStatus[status],
      ...(status === coding && { 'accept-encoding': '`identity`, if the body was compressed.' }),
    }
    return [status, response(refusal, own)] as const
  })
  return Object.fromEntries(described)
}
