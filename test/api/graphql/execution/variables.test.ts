import { getVariableValues, type OperationDefinitionNode, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { coerceVariables } from '../../../../src/api/graphql/execution/variables.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { graphql } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'

const operationOf = (text: string) => parse(text).definitions[0] as OperationDefinitionNode

const listed =
  'query ($f: OutputFilter, $n: Int! = 5, $ids: [ID!]) { outputs(filter: $f, first: $n) { totalCount } }'

describe('variables', () => {
  test.each<object>([
    {},
    { n: 7, ids: ['a', 2] },
    { n: null },
    { n: 'x', f: 7, ids: [{}, [1], { a: { b: { c: {} } } }] },
    { f: { addresses: [{ address: 'x' }, { role: 'OWNER' }, 'x'], tag: '0x', zz: 1 } },
    { f: { kinds: ['BASIC', 'BASICS'], addresses: Array.from({ length: 12 }, (_, n) => n) } },
    { f: Array.from({ length: 12 }, (_, n) => [n, [n, [n, [n]]]]) },
    { ids: Array.from({ length: 60 }, () => ({})) },
  ])('%j have the values or the errors of the library', (given) => {
    const operation = operationOf(listed)
    const { coerced, errors } = coerceVariables(schema, operation, { ...given })
    const of = getVariableValues(
      schema,
      operation.variableDefinitions ?? [],
      { ...given },
      { maxErrors: 50 },
    )
    expect(coerced).toEqual(of.coerced)
    expect(errors?.map((error) => error.toJSON())).toEqual(
      of.errors?.map((error) => error.toJSON()),
    )
  })
})

test('errors of long variables suggest no names', () => {
  const operation = operationOf(listed)
  const short = coerceVariables(schema, operation, { f: { kindz: [] } })
  expect(short.errors?.join()).toContain('Did you mean "kinds"?')
  const long = { ['a'.repeat(70_000)]: 1, kindz: [] }
  const { errors = [] } = coerceVariables(schema, operation, { f: long })
  expect(errors.length).toBe(2)
  expect(errors.join()).not.toContain('Did you mean')
})

describe('very many refused values', () => {
  const query = 'query ($f: OutputFilter) { outputs(filter: $f) { nodes { outputId } } }'
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  test.each<[string, object]>([
    [
      'an object with members that no input has',
      Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`k${n}`, 1])),
    ],
    ['a list of values that are refused', { kinds: Array.from({ length: 12_000 }, () => ({})) }],
  ])('are reported without printing all of them for each error: %s', async (_name, f) => {
    const { errors = [] } = await graphql(gateway.url, query, { f })
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['BAD_USER_INPUT']),
    )
    expect(JSON.stringify(errors).length).toBeLessThan(30_000)
  })
})
