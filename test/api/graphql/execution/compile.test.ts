import {
  buildSchema,
  execute,
  getIntrospectionQuery,
  getOperationAST,
  parse,
  validate,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import type { GatewayContext } from '../../../../src/api/graphql/builder.ts'
import { createBudget } from '../../../../src/api/graphql/execution/budget.ts'
import { compileQuery, maxCompiledFields } from '../../../../src/api/graphql/execution/compile.ts'
import { fullShare } from '../../../support/full-share.ts'

/** Compiled queries compared with the executor of `graphql`, on a schema with every kind of type. */

const schema = buildSchema(`
  type Query { one: Thing, none: Thing, some: [Thing!]!, many: [[Int]], any: [Any!]!, named: Named
    sum(a: Int! = 1, b: [Int!]): Int!, late: String!, broken: Thing, brokenText: String!, wrong: String! }
  interface Named { name: String! }
  type Thing implements Named { name: String!, kind: Kind!, next: Thing, isIt: Boolean, size: Float, id: ID }
  type Other implements Named { name: String!, count: Int! }
  union Any = Thing | Other
  enum Kind { A B }
`)

const thing = {
  __typename: 'Thing',
  name: 'é "quoted" \\ \u2028 \ud83d\ude00',
  kind: 'A',
  isIt: false,
  size: 0.5,
  id: 7,
}
const other = { __typename: 'Other', name: 'plain', count: -1 }

const resolvers: Record<string, (args: never, context: GatewayContext) => unknown> = {
  one: () => ({ ...thing, next: { ...thing, next: null } }),
  none: () => undefined,
  some: async () => [thing, { ...thing, kind: 'B' }],
  many: () => [[1, null], null, []],
  any: () => [thing, other],
  named: async () => other,
  sum: ({ a, b }: { a: number; b?: number[] }) => [a, ...(b ?? [])].reduce((x, y) => x + y),
  late: async () => 'late',
  broken: () => {
    throw new Error('broken')
  },
  brokenText: async () => {
    throw new Error('broken')
  },
  wrong: () => null,
}
for (const [name, resolve] of Object.entries(resolvers)) {
  const field = schema.getQueryType()?.getFields()[name]
  if (field) field.resolve = (_source, args, context) => resolve(args as never, context)
}

function compiled(text: string, variables: Record<string, unknown> = {}) {
  const document = parse(text)
  expect(validate(schema, document)).toEqual([])
  const operation = getOperationAST(document)
  if (operation == null) throw new Error('no operation')
  const conditions = new Map(
    Object.entries(variables).map(([name, value]) => [name, value === true]),
  )
  return compileQuery({ schema, document, operation, conditions })
}

const context = () => ({ budget: createBudget(), share: fullShare() }) as GatewayContext

describe('a compiled query returns what the executor returns for', () => {
  const rows: [string, string, Record<string, unknown>?][] = [
    ['leaves of every kind', '{ one { name kind isIt size id } }'],
    ['null', '{ none { name } one { next { next { name } } } }'],
    ['lists', '{ some { name kind } many }'],
    ['aliases, in the requested order', '{ b: late a: late one { z: name y: kind name } }'],
    ['type names', '{ __typename one { __typename } any { __typename } }'],
    [
      'fragments on a union',
      '{ any { ... on Other { count } ...T } } fragment T on Thing { kind ... on Named { name } }',
    ],
    ['a type of a union without a field', '{ any { ... on Other { count } } }'],
    ['an interface', '{ named { name ... on Other { count } } }'],
    [
      'fields selected in several places',
      '{ one { next { name } } ... { one { next { kind } name } } ...Q } fragment Q on Query { one { size } }',
    ],
    ['a fragment spread twice', '{ one { ...N ...N next { ...N } } } fragment N on Thing { name }'],
    ['arguments', '{ sum x: sum(a: 2) y: sum(a: 2, b: [3, 4]) }'],
    [
      'variables',
      'query ($a: Int!, $b: [Int!]) { sum(a: $a) x: sum(b: $b) y: sum(a: $a, b: [$a]) }',
      { a: 5, b: [1] },
    ],
    ['absent variables', 'query ($b: [Int!]) { sum(b: $b) }'],
    [
      'conditions',
      'query ($yes: Boolean!, $no: Boolean!) { a: late @skip(if: $yes) b: late @skip(if: $no) c: late @include(if: $yes) d: late @include(if: $no) e: late @include(if: true) @skip(if: true) ... @include(if: $no) { none { name } } }',
      { yes: true, no: false },
    ],
  ]

  test.each(rows)('%s', async (_name, text, variableValues = {}) => {
    const { data, errors } = await execute({
      schema,
      document: parse(text),
      variableValues,
      contextValue: context(),
    })
    expect(errors).toBeUndefined()
    expect(await compiled(text, variableValues)?.run(context(), variableValues)).toBe(
      JSON.stringify(data),
    )
  })
})

test.each([
  ['a field that fails', '{ late broken { name } }'],
  ['a field that fails later', '{ brokenText late }'],
  ['several fields that fail', '{ brokenText other: brokenText broken { name } }'],
  ['null in a non-null field', '{ wrong }'],
])('a compiled query rejects for %s', async (_name, text) => {
  await expect(compiled(text)?.run(context(), {})).rejects.toThrow(
    /broken|null in a non-null field/,
  )
})

test.each([
  '{ __type(name: "Thing") { name } none: __type(name: "No") { name } }',
  getIntrospectionQuery(),
])('a compiled query returns what the executor returns for introspection: %s', async (text) => {
  const { data } = await execute({ schema, document: parse(text) })
  expect(await compiled(text)?.run(context(), {})).toBe(JSON.stringify(data))
})

test('a document with more fields than the limit is not compiled, however short it is', () => {
  // Each level selects the level below twice.
  const levels = Math.ceil(Math.log2(maxCompiledFields))
  const fragments = Array.from(
    { length: levels },
    (_, n) => `fragment F${n} on Thing { a: next { ...F${n + 1} } b: next { ...F${n + 1} } }`,
  )
  expect(
    compiled(`{ one { ...F0 } } ${fragments.join(' ')} fragment F${levels} on Thing { name }`),
  ).toBeUndefined()
})

test('a compiled query counts at least the bytes that it writes', async () => {
  const spent: number[] = []
  const budget = createBudget()
  budget.spend = (bytes) => void spent.push(bytes)
  const text =
    '{ one { name next { name kind } } some { name size id } any { ...T } many } fragment T on Thing { name }'
  const data = await compiled(text)?.run({ ...context(), budget }, {})
  const counted = spent.reduce((sum, bytes) => sum + bytes, 0)
  expect(counted).toBeGreaterThanOrEqual(Buffer.byteLength(data ?? '') - 4)
  expect(counted).toBeLessThan(2 * Buffer.byteLength(data ?? ''))
})

test('a compiled query ends when its client has disconnected', async () => {
  const left = context()
  left.budget.leave()
  await expect(compiled('{ some { name } }')?.run(left, {})).rejects.toMatchObject({
    extensions: { code: 'CLIENT_LEFT' },
  })
})
