import { readdirSync, readFileSync } from 'node:fs'
import {
  type ExecutionArgs,
  execute,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isListType,
  isObjectType,
  parse,
  SchemaMetaFieldDef,
  validate,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import {
  costRefusal,
  declaredPrice,
  operationCost,
} from '../../../../src/api/graphql/execution/cost.ts'
import { createIntrospectionCount } from '../../../../src/api/graphql/execution/introspection-cost.ts'
import {
  fieldCost,
  maxOperationCost,
  operationCostBase,
  writtenCost,
} from '../../../../src/api/graphql/execution/prices.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { present } from '../../../../src/lib/assert.ts'
import { fullSelection } from '../../../support/full-selection.ts'

/** The cost of documents, without a gateway. */

/** Returns the cost of a valid document. */
function costOf(text: string, variableValues: Record<string, unknown> = {}): number | undefined {
  return operationCost(argsOf(text, variableValues))
}

function argsOf(text: string, variableValues: Record<string, unknown> = {}): ExecutionArgs {
  const document = parse(text)
  expect(validate(schema, document)).toEqual([])
  return {
    schema,
    document,
    variableValues,
    contextValue: { services: { feed: { batchRows: 100 } } },
  }
}

describe('introspection costs as many fields as its response has', () => {
  const rows = [
    ['of all types', getIntrospectionQuery()],
    [
      'of one type',
      '{ __type(name: "LedgerUpdate") { name fields { name type { kind ofType { name } } } } }',
    ],
    ['of an unknown type', '{ __type(name: "Nothing") { name fields { name } } }'],
    [
      'through fragments and by aliases',
      `{ a: __schema { ...S } b: __schema { ...S } }
      fragment S on __Schema { types { ... on __Type { name ...T } ... { a: possibleTypes { name } } } }
      fragment T on __Type { fields(includeDeprecated: true) { args { name } } enumValues { name } }`,
    ],
    [
      'with a variable',
      'query ($all: Boolean) { __schema { directives { name args(includeDeprecated: $all) { name } } } }',
    ],
  ] as const

  test.each(rows)('%s', async (_name, text) => {
    const { data } = await execute(argsOf(text, { all: true }))
    const roots = Object.keys(data ?? {}).length
    expect(costOf(text, { all: true })).toBe(
      Math.ceil(
        operationCostBase + fieldsOf(data) * fieldCost.introspection.field + roots * writtenCost,
      ),
    )
  })

  test('and is not counted to its end beyond the limit', () => {
    const text = `{ ${times(40, (n) => `a${n}: __schema { types { ...T } }`)} }
      fragment T on __Type { ${times(40, (n) => `b${n}: fields { ${times(40, (m) => `c${n}x${m}: name`)} }`)} }`
    expect(costOf(text)).toBeGreaterThan(maxOperationCost)
  })

  test('in a time that grows with the document, not with the answer', () => {
    const levels = 8
    const below = (level: number): string =>
      level === 0 ? 'name' : `possibleTypes { interfaces { ${below(level - 1)} } }`
    const document = parse(`{ __schema { types { ${below(levels)} } } }`)
    const node = getOperationAST(document)?.selectionSet.selections[0]
    if (node?.kind !== 'Field') throw new Error('a document of one field')
    const deps = { schema, fragments: new Map(), variables: {}, limit: Number.MAX_SAFE_INTEGER }
    const counted = createIntrospectionCount(deps).belowRoot(SchemaMetaFieldDef, node)
    // One by one, they would be counted for hours.
    expect(counted).toBeGreaterThan(1e10)
  })

  test('of a type with a long name that many fields share, without writing the name for each', () => {
    const fields = Array.from({ length: 300 }, (_, n) => `a${n}: __type(name: $name) { name }`)
    const text = `query ($name: String!) { ${fields.join(' ')} }`
    const unknown = costOf(text, { name: 'Nothing' })
    const costs = Array.from({ length: 50 }, () => costOf(text, { name: 'x'.repeat(1_000_000) }))
    expect(new Set(costs)).toEqual(new Set([unknown]))
  })
})

/**
 * A field declares its price if it is a root, has arguments, or returns objects or a list: all that can lead to work. The other fields
 * are single values, which are part of their object or computed from it at once.
 */
describe('every field that can lead to work declares its price', () => {
  const roots: readonly unknown[] = [
    schema.getQueryType(),
    schema.getMutationType(),
    schema.getSubscriptionType(),
  ]
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)

  test.each(types.filter(({ name }) => !name.startsWith('__')))('of $name', (type) => {
    const leading = Object.values(type.getFields()).filter(
      ({ type: returned, args }) =>
        roots.includes(type) ||
        args.length > 0 ||
        isListType(getNullableType(returned)) ||
        isCompositeType(getNamedType(returned)),
    )
    const unpriced = leading.filter((field) => declaredPrice(field) === undefined)
    expect(unpriced.map(({ name }) => name)).toEqual([])
  })
})

describe('a price is', () => {
  const id = `"0x${'00'.repeat(38)}"`

  test('that of the most expensive type that a value can have', () => {
    const block = (fields: string) =>
      costOf(`{ inspectBlock(input: { bytes: "0x00" }) { ${fields} } }`)
    const both = block(
      '... on BlockInspection { bytes size } ... on BrokenRule { code path offset }',
    )
    expect(both).toBe(block('... on BlockInspection { bytes size }'))
    // The field itself, with room for less than one signature, and two fields below it.
    const checked = 50 + 20
    expect(block('... on InspectBlockResult { ... on BlockInspection { bytes } __typename }')).toBe(
      Math.ceil(operationCostBase + checked + fieldCost.blockBytes.field + 3 * writtenCost),
    )
  })

  test('that of the field under any alias, and more for a long alias', () => {
    const named = (name: string) =>
      costOf(`{ unspentOutputs(first: 1000) { nodes { ${name}: isSpent } } }`)
    const short = present(named('a'), 'a cost')
    expect(named('b')).toBe(short)
    expect(named('a'.repeat(640))).toBe(short + 1_000 * 10 * writtenCost)
  })

  test('summed over a fragment each time it is spread', () => {
    const spread = (count: number) =>
      costOf(`{ ${times(count, (n) => `a${n}: output(id: ${id}) { ...O }`)} }
        fragment O on Output { isSpent bytes }`)
    // One read, three fields, and the bytes of an output.
    const once = 1 + 3 * writtenCost + fieldCost.bytes.field
    const costs = [1, 7, 70].map((count) => Math.ceil(operationCostBase + count * once))
    expect([1, 7, 70].map(spread)).toEqual(costs)
  })
})

/** The deepest selections of a type are proofs, with seven levels of nodes: only a transaction and a feed have more above them. */
test('fragments that each spread the next one twice are refused at once, with their most expensive field', () => {
  const levels = times(300, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)
  const text = `{ ...F0 } ${levels} fragment F300 on Query { __typename }`
  expect(costRefusal(argsOf(text))?.extensions).toMatchObject({
    code: 'OPERATION_TOO_COSTLY',
    field: '__typename',
  })
})

describe('an ordinary document is within the limit', () => {
  const root = new URL('../../../../', import.meta.url)
  const files = ['README.md', ...readdirSync(new URL('docs', root)).map((name) => `docs/${name}`)]
  const shown = files
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => [
      ...readFileSync(new URL(name, root), 'utf8').matchAll(/```graphql\n([\s\S]*?)```/g),
    ])
    .map(([, text]) => text ?? '')

  test('each document of the documentation', () => {
    expect(shown.length).toBeGreaterThanOrEqual(2)
    for (const text of shown) expect(costOf(text)).toBeLessThan(maxOperationCost / 10)
  })

  const blockId = `"0x${'00'.repeat(36)}"`
  const outputId = `"0x${'00'.repeat(38)}"`
  const roots = [
    ['subscription { ledgerUpdates { ...All } }', 'LedgerFeedEvent', 8],
    ['subscription { milestones { ...All } }', 'Milestone', 8],
    [`{ block(id: ${blockId}) { ...All } }`, 'Block', 8],
    [`{ block(id: ${blockId}) { content { ...All } } }`, 'BlockContent', 20],
    [`{ output(id: ${outputId}) { ...All } }`, 'Output', 8],
    ['{ unspentOutputs { nodes { ...All } } }', 'Output', 8],
    ['{ unspentOutputs(first: 1000) { nodes { bytes content { ...All } } } }', 'OutputContent', 12],
    [`{ transaction(id: ${blockId}) { ...All } }`, 'Transaction', 8],
    ['{ ledgerUpdates(address: "a") { ...All } }', 'LedgerUpdateConnection', 8],
    ['{ network { ...All } }', 'Network', 8],
    ['{ inspectBlock(input: { bytes: "0x00" }) { ...All } }', 'InspectBlockResult', 20],
  ] as const

  test.each(roots)('%s with all fields', (operation, type, depth) => {
    const { name, fragments } = fullSelection(schema, type, depth)
    const cost = costOf(`${operation.replace('...All', `...${name}`)} ${fragments}`)
    expect(cost).toBeLessThanOrEqual(maxOperationCost)
  })
})

function times(count: number, part: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => part(n)).join(' ')
}

/** Counts the members of all objects in a response. */
function fieldsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + fieldsOf(one), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, one) => sum + 1 + fieldsOf(one), 0)
}
