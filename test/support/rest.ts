import { Ajv2020 } from 'ajv/dist/2020.js'
import { openapiDocument } from '../../src/api/rest/openapi/document.ts'
import { routes } from '../../src/api/rest/routes.ts'

/**
 * Asks a gateway by REST and holds every answer against the OpenAPI document: a status, a header or a member that
 * the document lacks fails the test, and so does a body of another form.
 */
export async function rest(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  const method = (init.method ?? 'GET').toLowerCase()
  const { pathname } = new URL(url)
  const copy = method === 'head' ? undefined : new Uint8Array(await response.clone().arrayBuffer())
  const asked = `${method.toUpperCase()} ${pathname}`
  const path = findPath(pathname)
  const operation = path?.[1][method === 'head' ? 'get' : method]
  if (operation === undefined) checkNowhere(asked, response, copy, path !== undefined)
  else checkAnswer(asked, response, copy, operation.responses[response.status])
  return response
}

/** The JSON of an answer that must be a success. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows what it asked for
export async function restJson(url: string, init: RequestInit = {}): Promise<any> {
  const response = await rest(url, init)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** What the helper reads of the document. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly headers: Readonly<Record<string, unknown>> }
}

interface Operation {
  readonly responses: Readonly<Record<string, DescribedResponse>>
}

interface DescribedResponse {
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

const document = openapiDocument(routes, 'test') as unknown as Document

/** The name under which the schemas find each other. */
const base = 'openapi'

const ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: false })
ajv.addVocabulary(['openapi', 'info', 'paths', 'components'])
ajv.addSchema({ $id: base, ...closed(document) })

/** The same document, but no object may have a member that it does not describe. */
function closed(part: object): object {
  const entries = Object.entries(part).map(([key, value]) => [
    key,
    Array.isArray(value)
      ? value.map((one) => (isObject(one) ? closed(one) : one))
      : isObject(value)
        ? closed(value)
        : value,
  ])
  const isOpen = 'properties' in part && isObject(part.properties)
  return Object.fromEntries(isOpen ? [...entries, ['unevaluatedProperties', false]] : entries)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A segment that is written out wins over a parameter. */
function findPath(pathname: string) {
  const segments = pathname.replace(/(?<=.)\/$/, '').split('/')
  const fits = Object.entries(document.paths).filter(([path]) => {
    const expected = path.split('/')
    return (
      expected.length === segments.length &&
      expected.every((one, i) => (one.startsWith('{') ? segments[i] !== '' : one === segments[i]))
    )
  })
  return fits.toSorted(([a], [b]) => a.split('{').length - b.split('{').length)[0]
}

function checkAnswer(
  asked: string,
  response: Response,
  body: Uint8Array | undefined,
  described: DescribedResponse | undefined,
): void {
  if (described === undefined) fail(`${asked} does not answer ${response.status} there`)
  checkHeaders(asked, response, Object.keys(described.headers))
  const type = response.headers.get('content-type')?.split(';')[0]
  if (described.content === undefined) {
    if ((body?.length ?? 0) > 0) fail(`${asked} has no body there`)
    return
  }
  const content = described.content[type ?? '']
  if (content === undefined) fail(`${asked} does not answer ${type} there`)
  if (body !== undefined && type === 'application/json') checkBody(asked, content.schema, body)
}

/** What is sent by the transport and says nothing about the answer. */
const transport = ['connection', 'content-length', 'content-type', 'date', 'keep-alive']

function checkHeaders(asked: string, { headers }: Response, described: readonly string[]): void {
  const known = [...described, ...transport, 'transfer-encoding']
  const unknown = [...headers.keys()].filter((name) => !known.includes(name))
  if (unknown.length > 0) fail(`${asked} does not have the headers ${unknown.join(', ')} there`)
}

/** What a browser is told before it asks across origins. */
const preflight = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
]

/** Outside the document there are only refusals: no such path, no such method, or a path that is no text. */
function checkNowhere(
  asked: string,
  response: Response,
  body: Uint8Array | undefined,
  hasPath: boolean,
): void {
  const common = Object.keys(document.components.headers)
  if (response.status === 204) checkHeaders(asked, response, [...common, ...preflight])
  if (response.status === 204 || body === undefined) return
  const refusals = hasPath ? [405] : [400, 404]
  if (!refusals.includes(response.status)) fail(`${asked} is not there, but ${response.status}`)
  checkHeaders(asked, response, [...common, 'allow'])
  checkBody(asked, { $ref: '#/components/schemas/Error' }, body)
}

const validators = new WeakMap<object, ReturnType<typeof ajv.compile>>()

function checkBody(asked: string, schema: object, body: Uint8Array): void {
  const validate = validators.get(schema) ?? ajv.compile(absolute(closed(schema)))
  validators.set(schema, validate)
  if (validate(JSON.parse(new TextDecoder().decode(body)))) return
  fail(`${asked} answers otherwise there: ${ajv.errorsText(validate.errors)}`)
}

/** Thrown by hand, for not all who use this run under a test runner. */
function fail(difference: string): never {
  throw new Error(`in the OpenAPI document ${difference}`)
}

/** A schema out of its document refers to it by name. */
function absolute(schema: object): object {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${base}#`)
  return JSON.parse(text)
}
