import { readFileSync } from 'node:fs'
import {
  type GraphQLEnumType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql'
import { expect, test } from 'vitest'
import { schemaText } from '../../../src/api/graphql/print-schema.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { present } from '../../../src/lib/assert.ts'

/** The conventions of the schema. */

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

test('schema.graphql is the schema; otherwise run `npm run schema`', () => {
  const file = new URL('../../../schema.graphql', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(schemaText())
})

test('every type, field, argument and value has a description', () => {
  expect(types.flatMap(undocumentedIn)).toEqual([])
})

test('every connection has the arguments of both directions, except those of one direction', () => {
  // Connections that are read in one direction only: unspent outputs by position, and records by chain.
  const forwardOnly = ['ChainRecordConnection', 'UnspentOutputConnection']
  const connections = types.filter(isObjectType).flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => String(field.type).replace('!', '').endsWith('Connection'))
      .filter((field) => !forwardOnly.includes(String(field.type).replace('!', '')))
      .map((field) => ({ at: `${type.name}.${field.name}`, args: field.args })),
  )
  expect(connections.length).toBeGreaterThan(20)
  const names = ['after', 'before', 'first', 'last']
  const others = connections.filter(
    ({ args }) => !names.every((name) => args.some((arg) => arg.name === name)),
  )
  expect(others.map(({ at }) => at)).toEqual([])
})

test('a root with arguments is nullable, so that one bad id leaves the rest of a page', () => {
  // The refusals of a search are part of its result, and the items of `nodes` are nullable themselves.
  const never = ['nodes', 'search']
  const fields = Object.values(present(schema.getQueryType(), 'the query type').getFields())
  const wrong = fields.filter(({ args, type }) => args.length > 0 && isNonNullType(type))
  expect(wrong.map(({ name }) => name).sort()).toEqual(never)
})

test('a nullable field states what null means; a root is null if an argument is wrong', () => {
  const silent = types.flatMap((type) => {
    if (type === schema.getQueryType() || !(isObjectType(type) || isInterfaceType(type))) return []
    const nullable = Object.values(type.getFields()).filter((field) => !isNonNullType(field.type))
    const wrong = nullable.filter(({ description }) => !/\bNull\b/.test(description ?? ''))
    return wrong.map(({ name }) => `${type.name}.${name}`)
  })
  expect(silent).toEqual([])
})

test('only nodes have a field id, because the caches of clients identify an object by it', () => {
  const withId = types.filter((type) => isObjectType(type) && type.getFields().id !== undefined)
  const nodes = schema.getPossibleTypes(present(schema.getType('Node'), 'Node') as never)
  expect(withId.map(({ name }) => name).sort()).toEqual(nodes.map(({ name }) => name).sort())
})

test('an interface of nodes is a node itself, so that its fragments can select the id', () => {
  const node = present(schema.getType('Node'), 'Node') as GraphQLInterfaceType
  const isNode = (type: GraphQLObjectType | GraphQLInterfaceType) =>
    type.getInterfaces().includes(node)
  const ofNodes = types
    .filter(isInterfaceType)
    .filter((type) => type !== node && schema.getPossibleTypes(type).every(isNode))
  expect(ofNodes.map(({ name }) => name)).toEqual(['Chain'])
  expect(ofNodes.every(isNode)).toBe(true)
})

test('the description of an error code says when the error occurs, not only its status', () => {
  const codes = present(schema.getType('ErrorCode'), 'ErrorCode') as GraphQLEnumType
  const thin = codes
    .getValues()
    .filter(({ description }) => /^The REST status/.test(description ?? ''))
  expect(thin.map(({ name }) => name)).toEqual([])
})

test('no name repeats Input, Output or Type', () => {
  expect(
    types.map(({ name }) => name).filter((name) => /(Input|Output|Type)\1/.test(name)),
  ).toEqual([])
})

function undocumentedIn(type: GraphQLNamedType): readonly string[] {
  const undocumented = type.description ? [] : [type.name]
  if (isScalarType(type)) return undocumented
  if (isEnumType(type)) {
    const values = type.getValues().filter(({ description }) => !description)
    return [...undocumented, ...values.map(({ name }) => `${type.name}.${name}`)]
  }
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return undocumented
  for (const field of Object.values(type.getFields())) {
    if (!field.description) undocumented.push(`${type.name}.${field.name}`)
    for (const arg of 'args' in field ? field.args : []) {
      if (!arg.description) undocumented.push(`${type.name}.${field.name}(${arg.name})`)
    }
  }
  return undocumented
}
