import { Block } from '../../../protocol/block.ts'
import { nodeAnswers } from '../../../protocol/node-answers.ts'
import { SignedTransaction } from '../../../protocol/transaction.ts'
import { about, asItIs, named, object, type Shape, text } from '../form.ts'
import { binaryType } from '../negotiation.ts'
import type { Parameters } from '../parameters.ts'
import type { Answer } from '../reply.ts'
import type { Route } from '../route.ts'
import { componentsOf } from './from-schema.ts'

/** The OpenAPI 3.1 document of the REST surface: what each route declares about itself, and the types of the protocol. */

/** Writes the document. */
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
      summary: 'The REST surface of a gateway to a UTXO ledger of the IOTA 2.0 block protocol.',
      description:
        'Numbers of 64 bits are decimal text, bytes are hexadecimal text with 0x in front, and what is written has ' +
        'lower-case digits. Members that a body has besides those described are ignored. Every GET answers HEAD too.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { ...componentsOf([Block, SignedTransaction, ...nodeAnswers]), Error: errorShape },
      headers: commonHeaders,
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'A JSON Web Token of this gateway, bare or after `Bearer`; the cookie `jwt` is accepted too.',
        },
      },
    },
  }
}

const status = asItIs({ type: 'integer', minimum: 400, maximum: 599 })

const errorShape: Shape = object({
  error: object({
    code: about('The status.', status),
    message: about('What is wrong, with the name of the field.', text),
  }),
}).shape

/** What every answer may have. */
const commonHeaders: Readonly<Record<string, Shape>> = {
  'x-request-id': header('names this request in the log of the gateway'),
  ratelimit: header(
    "the units that are left of the client's share, and after how many seconds it is whole; not of `/health`",
  ),
  'ratelimit-policy': header('the units of a whole share, and in how many seconds it fills'),
  'x-content-type-options': header('`nosniff`'),
  'access-control-allow-origin': header('which pages may read; `*` for all'),
  'access-control-expose-headers': header('which headers a page may read'),
  vary: header('the request headers on which the answer depends'),
  'content-encoding': header('`gzip`, where that was asked for and pays'),
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

/** `get-api-core-v3-blocks-blockId`: unique, for method and path are. */
function operationId({ method, path }: Route): string {
  const words = path.split(/[/{}.]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].join('-')
}

/** The family that a path belongs to: `core/v3`, `v1`. */
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
  // What is sent as it is made has no tag.
  const isRead = method === 'GET' && answers[200]?.texts === undefined
  const described = Object.entries(answers).map(([status, answer]) => {
    const tag =
      isRead && status === '200' ? { etag: 'names this content; see `If-None-Match`' } : {}
    return [status, response(answer, { ...tag, ...answer.headers })] as const
  })
  const unchanged = response(
    { about: 'The content is the one named in `If-None-Match`.' },
    { etag: 'its name', ...answers[200]?.headers },
  )
  return {
    ...Object.fromEntries(described),
    ...(isRead && answers[200] !== undefined && { 304: unchanged }),
  }
}

function response(
  { about, json, bytes, texts = {} }: Answer,
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

/** What a status says when it is not answered with content. */
const refusalByStatus: Readonly<Record<number, string>> = {
  400: 'Something in the request is not of the form it must have.',
  401: 'A valid token is needed.',
  403: 'This is not allowed to the caller.',
  404: 'There is no such thing.',
  409: 'What is there does not allow it.',
  410: 'What was asked for is no longer kept.',
  412: 'What is there is not what `If-Match` names.',
  413: 'The body is too long.',
  429: 'Asked too often.',
  500: 'A fault of the gateway; the request id finds it in the log.',
  501: 'The gateway follows a node, and nodes do not offer this.',
  503: 'The gateway cannot do this now.',
}

const ownHeadersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': '`Bearer`' },
  429: { 'retry-after': 'seconds after which to ask again' },
  503: { 'retry-after': 'seconds after which to ask again' },
}

function refusals({ errors = [], answers }: Route): Record<string, Shape> {
  const statuses = [...new Set([400, 429, 500, 503, ...errors])].filter(
    (status) => !(status in answers),
  )
  const described = statuses.map((status) => {
    const refusal = { about: refusalByStatus[status] ?? 'Refused.', json: named('Error') }
    return [status, response(refusal, ownHeadersByStatus[status] ?? {})] as const
  })
  return Object.fromEntries(described)
}
