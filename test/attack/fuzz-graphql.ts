import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Random } from '../support/random.ts'
import type { FuzzRequest } from './fuzz.ts'
import { chance, hex, oddNumbers, oddTexts, pick } from './known-values.ts'

/** Creates random operations from a schema: mostly valid ones, and some with invalid values. */

/** The schema, and values for arguments. */
export interface GraphqlFuzzDeps {
  readonly schema: GraphQLSchema
  readonly known: readonly string[]
  readonly token: string
}

/** Creates a random request. */
export function graphqlRequest(deps: GraphqlFuzzDeps, random: Random): FuzzRequest {
  const values: Values = { ...deps, random, oddPercent: pick(random, [0, 0, 0, 15]) }
  const isMutation = chance(random, 10)
  const root = isMutation ? deps.schema.getMutationType() : deps.schema.getQueryType()
  const kind = isMutation ? 'mutation' : 'query'
  const query = `${kind} { ${root ? selectionOf(values, root, random.between(2, 4)) : ''} }`
  const authorization = chance(random, 70) ? { authorization: deps.token } : {}
  const isByUrl = !isMutation && query.length < 4_000 && chance(random, 20)
  const requestOf = isByUrl ? byUrl : byBody
  const headers = { ...authorization, accept: pick(random, acceptHeaders) }
  return {
    ...requestOf(query, headers),
    again: (attempt) => requestOf(`${query} # ${attempt}`, headers),
  }
}

/** The compiled path, the executor, and a stream with a single event. */
const acceptHeaders = ['*/*', '*/*', 'application/json;q=0.9', 'text/event-stream']

type Headers = Readonly<Record<string, string>>

function byUrl(query: string, headers: Headers): FuzzRequest {
  return { target: `/graphql?${new URLSearchParams({ query })}`, init: { headers } }
}

function byBody(query: string, authorization: Headers): FuzzRequest {
  const headers = { 'content-type': 'application/json', ...authorization }
  return { target: '/graphql', init: { method: 'POST', headers, body: JSON.stringify({ query }) } }
}

interface Values extends GraphqlFuzzDeps {
  readonly random: Random
  /** The percentage of values that may not have the type of the argument. */
  readonly oddPercent: number
}

function selectionOf(values: Values, type: GraphQLNamedType, depth: number): string {
  const { random, schema } = values
  if (isAbstractType(type)) {
    const types = random.shuffled(schema.getPossibleTypes(type)).slice(0, 3)
    const parts = types.map((one) => `... on ${one.name} { ${selectionOf(values, one, depth)} }`)
    return ['__typename', ...parts].join(' ')
  }
  if (!isObjectType(type)) return '__typename'
  const fields = Object.values(type.getFields()).filter(
    (field) => depth > 0 || isLeafType(getNamedType(field.type)),
  )
  const chosen = random.shuffled(fields).slice(0, random.between(1, 4))
  // Each field has a unique alias, because fields with the same name must have equal arguments, also across fragments.
  const parts = chosen.map((field) => {
    const alias = `${field.name}_${random.between(0, 1e9)}`
    return `${alias}: ${fieldOf(values, field, depth)}`
  })
  return ['__typename', ...parts].join(' ')
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string]

function fieldOf(values: Values, field: Field, depth: number): string {
  const { random } = values
  const named = getNamedType(field.type)
  const directive = chance(random, 3)
    ? pick(random, [' @include(if: true)', ' @skip(if: false)'])
    : ''
  const head = `${field.name}${argumentsOf(values, field.args)}${directive}`
  return isLeafType(named) ? head : `${head} { ${selectionOf(values, named, depth - 1)} }`
}

function argumentsOf(values: Values, args: readonly GraphQLArgument[]): string {
  const members = membersOf(values, args)
  return members.length === 0 ? '' : `(${members.join(', ')})`
}

function membersOf(
  values: Values,
  members: readonly (GraphQLArgument | GraphQLInputField)[],
): readonly string[] {
  return members
    .filter(({ type, name }) => isNonNullType(type) || chance(values.random, percentOf(name)))
    .map(({ name, type }) => `${name}: ${literal(values, type, name)}`)
}

/** Returns the probability of an optional argument. Random cursors rarely belong to the list, and would make most operations fail. */
function percentOf(name: string): number {
  return /^(after|before|cursor)$/.test(name) ? 3 : 35
}

function literal(values: Values, type: GraphQLInputType, name: string): string {
  const { random } = values
  if (isNonNullType(type)) return literal(values, type.ofType, name)
  if (chance(random, values.oddPercent)) return oddLiteral(random)
  if (isListType(type)) {
    const length = random.between(1, 2)
    return `[${Array.from({ length }, () => literal(values, type.ofType, name)).join(', ')}]`
  }
  if (isEnumType(type)) return pick(random, type.getValues()).name
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    const one = pick(random, fields)
    const members = type.isOneOf
      ? [`${one.name}: ${literal(values, one.type, one.name)}`]
      : membersOf(values, fields)
    return `{${members.join(', ')}}`
  }
  return scalar(values, type.name, name)
}

const idBytes: Readonly<Record<string, number>> = {
  BlockId: 36,
  TransactionId: 36,
  CommitmentId: 36,
  OutputId: 38,
  FoundryId: 38,
  AccountId: 32,
  AnchorId: 32,
  NftId: 32,
  DelegationId: 32,
}

function scalar({ random, known }: Values, type: string, name: string): string {
  const bytes = idBytes[type]
  if (bytes !== undefined) {
    const fits = known.filter((text) => text.startsWith('0x') && text.length === 2 + 2 * bytes)
    const isKnown = fits.length > 0 && chance(random, 70)
    return JSON.stringify(isKnown ? pick(random, fits) : hex(random, bytes))
  }
  switch (type) {
    case 'Int':
      return String(pick(random, [0, 1, 2, 10, 100]))
    case 'UInt32':
      return String(pick(random, [0, 1, 5, 1_000, 4_294_967_295]))
    case 'Boolean':
      return String(chance(random, 50))
    case 'Float':
      return '0.5'
    case 'Hex':
      return JSON.stringify(hex(random, pick(random, [0, 1, 8, 32, 38, 64, 200])))
    case 'JSON':
      return pick(random, ['{}', '{header: {}}', '[]', '1', '{type: 0, tag: "0x", data: "0x"}'])
    case 'DateTime':
      return JSON.stringify(pick(random, ['2024-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z']))
    case 'String':
    case 'ID':
      return JSON.stringify(textFor(random, known, name))
    // The other scalars are numbers as decimal text.
    default:
      return JSON.stringify(pick(random, ['0', '1', '18446744073709551615']))
  }
}

function textFor(random: Random, known: readonly string[], name: string): string {
  const isAddress = /address|chain/i.test(name)
  const fits = known.filter((text) => (isAddress ? text.startsWith('tst1') : true))
  return pick(random, fits)
}

function oddLiteral(random: Random): string {
  const others = ['null', 'NOPE', '[]', '{}', '[[null]]', '$missing', 'true']
  const texts = oddTexts.map((text) => JSON.stringify(text))
  return pick(random, [...texts, ...oddNumbers.map(String), ...others])
}
