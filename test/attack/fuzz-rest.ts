import fc from 'fast-check'
import type { Random } from '../support/random.ts'
import type { OwnInit } from './from-address.ts'
import type { FuzzRequest } from './fuzz.ts'
import { chance, oddNumbers, oddTexts, pick } from './known-values.ts'

/** Creates random requests from an OpenAPI document: mostly valid ones, and some with invalid parts. */

/** The parts of the document that are used. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface ApiOperation {
  readonly parameters?: readonly ApiParameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: JsonSchema }>> }
}

interface ApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: JsonSchema
}

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/** The document, and values for parameters. */
export interface RestFuzzDeps {
  readonly document: ApiDocument
  readonly known: readonly string[]
  readonly token: string
}

/** Creates a random request. */
export function restRequest(deps: RestFuzzDeps, random: Random): FuzzRequest {
  const [path, operations] = pick(random, Object.entries(deps.document.paths))
  const [method, operation] = pick(random, Object.entries(operations))
  const oddPercent = pick(random, [0, 0, 10, 50])
  const values: Values = { ...deps, random, oddPercent }
  const { parameters = [], requestBody } = operation
  const text = ({ schema }: ApiParameter) => encodeURIComponent(wellFormed(textOf(values, schema)))
  const local = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name)
    return parameter === undefined ? '' : text(parameter)
  })
  // Leaves out `wait`, which would delay the responses.
  const queryParameters = parameters.filter(
    ({ name, in: place }) => place === 'query' && name !== 'wait',
  )
  const query = queryParameters
    .filter(() => chance(random, 40))
    .map((parameter) => `${parameter.name}=${text(parameter)}`)
  if (chance(random, oddPercent / 5)) query.push(`${pick(random, ['x', '%ff', ''])}=1`)
  const target = query.length === 0 ? local : `${local}?${query.join('&')}`
  return { target, init: initOf(values, method, requestBody) }
}

interface Values extends RestFuzzDeps {
  readonly random: Random
  /** The percentage of values that do not match the document. */
  readonly oddPercent: number
}

const mediaTypes = ['application/json', 'text/plain', 'application/vnd.iota.serializer-v2', '*/*']

function initOf(values: Values, method: string, requestBody: ApiOperation['requestBody']): OwnInit {
  const { random, oddPercent, token } = values
  const headers: Record<string, string> = {}
  if (chance(random, 50)) headers.authorization = token
  if (chance(random, 30)) headers.accept = pick(random, mediaTypes)
  if (requestBody === undefined) return { method: method.toUpperCase(), headers }
  const [type, { schema }] = pick(random, Object.entries(requestBody.content))
  headers['content-type'] = chance(random, oddPercent / 2) ? pick(random, mediaTypes) : type
  const value = randomValue(values, schema, 7)
  const body = type.includes('json') ? JSON.stringify(value) : String(value)
  const length = random.between(0, body.length)
  return {
    method: method.toUpperCase(),
    headers,
    body: chance(random, oddPercent / 5) ? body.slice(0, length) : body,
  }
}

function textOf(values: Values, schema: JsonSchema): string {
  const value = randomValue(values, schema, 3)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Replaces half of a surrogate pair, which has no percent encoding. */
function wellFormed(text: string): string {
  return text.replaceAll('\ud800', '\ufffd')
}

function randomValue(values: Values, schema: JsonSchema, depth: number): unknown {
  const { random, oddPercent, document } = values
  if (chance(random, oddPercent)) return oddValue(random)
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    const found = document.components.schemas[name]
    return found === undefined || depth === 0 ? null : randomValue(values, found, depth - 1)
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return randomValue(values, pick(random, choices), depth)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return pick(random, schema.enum)
  switch (schema.type) {
    case 'string':
      return stringOf(values, schema)
    case 'integer':
    case 'number':
      return chance(random, 70)
        ? random.between(schema.minimum ?? 0, Math.min(schema.maximum ?? 1_000, 1_000))
        : (schema.maximum ?? 4_294_967_295)
    case 'boolean':
      return chance(random, 50)
    case 'array':
      return arrayOf(values, schema, depth)
    case 'object':
      return objectOf(values, schema, depth)
    default:
      return oddValue(random)
  }
}

function arrayOf(values: Values, { items = {}, minItems = 0 }: JsonSchema, depth: number) {
  const length = depth === 0 ? minItems : minItems + values.random.between(0, 2)
  return Array.from({ length }, () => randomValue(values, items, Math.max(0, depth - 1)))
}

function objectOf(values: Values, schema: JsonSchema, depth: number): object {
  const { properties = {}, required = [] } = schema
  const members = Object.entries(properties).filter(
    ([name]) =>
      (required.includes(name) && !chance(values.random, values.oddPercent / 5)) ||
      chance(values.random, 50),
  )
  return Object.fromEntries(
    members.map(([name, member]) => [name, randomValue(values, member, Math.max(0, depth - 1))]),
  )
}

function stringOf({ random, known }: Values, { pattern }: JsonSchema): string {
  const fits = known.filter((text) => pattern === undefined || new RegExp(pattern).test(text))
  if (fits.length > 0 && chance(random, 70)) return pick(random, fits)
  if (pattern === undefined) return pick(random, [...known, ...oddTexts])
  const seed = random.between(0, 2_147_483_647)
  return fc.sample(fc.stringMatching(new RegExp(pattern)), { seed, numRuns: 1 })[0] ?? ''
}

function oddValue(random: Random): unknown {
  const others = [null, true, [], {}, [[]], { type: 0 }, { type: 255 }]
  return pick<unknown>(random, [...oddTexts, ...oddNumbers, ...others])
}
