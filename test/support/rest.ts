import { Ajv2020 } from 'ajv/dist/2020.js'
import { openapiDocument } from '../../src/api/rest/openapi/document.ts'
import { routes } from '../../src/api/rest/routes.ts'

/**
 * Sends a REST request to a gateway and checks the response against the OpenAPI document: a status, a header or a member that the
 * document does not contain fails the test, and so does a body that its schema rejects.
 */
export async function rest(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  const method = (init.method ?? 'GET').toLowerCase()
  const { pathname } = new URL(url)
  const copy = method === 'head' ? undefined : new Uint8Array(await response.clone().arrayBuffer())
  const request = `${method.toUpperCase()} ${pathname}`
  const path = findPath(pathname)
  const operation = path?.[1][method === 'head' ? 'get' : method]
  if (operation === undefined) checkUndescribed(request, response, copy, path !== undefined)
  else checkDescribed(request, response, copy, operation.responses[response.status])
  return response
}

/** Sends a request that must succeed, and returns the JSON of the response. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the response
export async function restJson(url: string, init: RequestInit = {}): Promise<any> {
  const response = await rest(url, init)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** The part of the OpenAPI document that the checks read. */
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

/** The name by which the schemas refer to the document. */
const base = 'openapi'

const ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: false })
ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'paths', 'components'])
ajv.addSchema({ $id: base, ...closed(document) })

/** Returns the document with `unevaluatedProperties: false` in every schema with `properties`, so that other members are errors. */
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

/** Finds the described path of a request. A literal segment takes precedence over a parameter. */
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

function checkDescribed(
  request: string,
  response: Response,
  body: Uint8Array | undefined,
  described: DescribedResponse | undefined,
): void {
  if (described === undefined) fail(`${request}: status ${response.status}`)
  checkHeaders(request, response, Object.keys(described.headers))
  const type = response.headers.get('content-type')?.split(';')[0]
  if (described.content === undefined) {
    if ((body?.length ?? 0) > 0) fail(`${request}: a body`)
    return
  }
  const content = described.content[type ?? '']
  if (content === undefined) fail(`${request}: content type ${type}`)
  if (body !== undefined && type === 'application/json') checkBody(request, content.schema, body)
}

/** Headers of the transport, which every response may have. */
const transport = ['connection', 'content-length', 'content-type', 'date', 'keep-alive']

function checkHeaders(request: string, { headers }: Response, described: readonly string[]): void {
  const known = [...described, ...transport, 'transfer-encoding']
  const unknown = [...headers.keys()].filter((name) => !known.includes(name))
  if (unknown.length > 0) fail(`${request}: headers ${unknown.join(', ')}`)
}

/** Headers of the response to a CORS preflight request. */
const preflight = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
]

/** Outside the document, only errors are allowed: unknown path, unknown method, or a path that is not valid UTF-8. */
function checkUndescribed(
  request: string,
  response: Response,
  body: Uint8Array | undefined,
  hasPath: boolean,
): void {
  const common = Object.keys(document.components.headers)
  if (response.status === 204) checkHeaders(request, response, [...common, ...preflight])
  if (response.status === 204 || body === undefined) return
  const refusals = hasPath ? [405] : [400, 404]
  if (!refusals.includes(response.status)) fail(`${request}: status ${response.status}`)
  checkHeaders(request, response, [...common, 'allow'])
  checkBody(request, { $ref: '#/components/schemas/Error' }, body)
}

const validators = new WeakMap<object, ReturnType<typeof ajv.compile>>()

function checkBody(request: string, schema: object, body: Uint8Array): void {
  const validate = validators.get(schema) ?? ajv.compile(absolute(closed(schema)))
  validators.set(schema, validate)
  if (validate(JSON.parse(new TextDecoder().decode(body)))) return
  fail(`${request}: the body: ${ajv.errorsText(validate.errors)}`)
}

/** Throws an ordinary error, because some callers run without a test runner. */
function fail(difference: string): never {
  throw new Error(`not described in the OpenAPI document: ${difference}`)
}

/** Makes the references of a part of the document absolute, so that they resolve outside of the document. */
function absolute(schema: object): object {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${base}#`)
  return JSON.parse(text)
}
