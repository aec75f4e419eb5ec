import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { specifiedRules } from 'graphql'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { GatewayContext } from '../../../../src/api/graphql/builder.ts'
import { createBudget } from '../../../../src/api/graphql/execution/budget.ts'
import { maxCompiledFields } from '../../../../src/api/graphql/execution/compile.ts'
import { createDocuments } from '../../../../src/api/graphql/execution/documents.ts'
import { createPreparedQueries } from '../../../../src/api/graphql/execution/prepared-queries.ts'
import { partsOfRules } from '../../../../src/api/graphql/execution/validation.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { createGraphqlServer } from '../../../../src/api/graphql/server.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { fullShare } from '../../../support/full-share.ts'

const context = () => ({ budget: createBudget(), share: fullShare() }) as GatewayContext

function createQueries() {
  const graphql = createGraphqlServer({ schema, log: silentLog, documents: createDocuments() })
  const queries = createPreparedQueries({ graphql, schema, log: silentLog })
  return (query: string, variables = {}) =>
    queries.prepare({ query, operationName: undefined, variables }, context())
}

const list = (fields: string) => `ledgerUpdates(address: "x", first: 1) { ${fields} }`

describe('a query', () => {
  test('has a version if its response depends on the log alone', async () => {
    const prepare = createQueries()
    const one = await prepare(`{ ${list('totalCount')} }`)
    expect(one?.version).toBeDefined()
    const others = await prepare(`{ ${list('totalCount')} milestone { index } }`)
    expect([others !== undefined, others?.version]).toEqual([true, undefined])
  })

  test('is prepared only if its pages are within the cost limit', async () => {
    const prepare = createQueries()
    const fields = 'cursor seq ordinal address class roles outputId isSpent balance historyHash'
    const lists = Array.from(
      { length: 80 },
      (_, n) => `a${n}: ledgerUpdates(address: "x", first: $n) { nodes { ${fields} } }`,
    )
    const text = `query ($n: Int) { ${lists.join(' ')} }`
    const isPrepared = async (n: number) => (await prepare(text, { n })) !== undefined
    const prepared = await Promise.all([10, 1_000, 10, 1_000].map(isPrepared))
    expect(prepared).toEqual([true, false, true, false])
  })

  test('does not read variables that it does not declare, of which a client may send very many', async () => {
    const prepare = createQueries()
    const get = () => expect.unreachable('the variable is read')
    const given = Object.defineProperty({ n: 3 }, 'x', { enumerable: true, get })
    expect(
      await prepare('query ($n: Int) { milestones(first: $n) { nodes { index } } }', given),
    ).toBeDefined()
  })

  test('has the cost of its own variables, whatever names others have sent', async () => {
    const prepare = createQueries()
    const text = `query ($n: Int = 1, $m: Int) {
      blocks(first: $n, last: $m) { nodes { children(first: 1000) { nodes { id } } } } }`
    // Only the first of two equal documents is not cached.
    for (let n = 0; n < 2; n++) await prepare(text)
    const named = await prepare(text, { 'n 1000,m': 1_000 })
    expect(named?.cost).toBe((await prepare(text))?.cost)
    expect(await prepare(text, { n: 1_000, m: 1_000 })).toBeUndefined()
  })
})

describe('a long document', () => {
  afterEach(() => void vi.restoreAllMocks())

  const long = (fields: string) => `{ ${list('totalCount')} ${fields} } # ${'x'.repeat(5_000)}`

  /** The phases of the event loop until a query is prepared. Each turn is over at the first check. */
  async function phasesOf(text: string) {
    let clock = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (clock += 3))
    let phases = 0
    let isOver = false
    const preparing = createQueries()(text).finally(() => {
      isOver = true
    })
    while (!isOver) {
      await setImmediate()
      phases++
    }
    return { phases, prepared: await preparing }
  }

  test('is prepared in several turns, and a short one in one', async () => {
    const short = await phasesOf(`{ ${list('totalCount')} }`)
    const { phases, prepared } = await phasesOf(long(''))
    expect([short.phases, phases >= 5]).toEqual([1, true])
    expect(prepared?.cost).toBe(short.prepared?.cost)
  })

  test.each([
    'nothing',
    'milestone { index(none: 1) }',
    'milestone { id: index id: timestamp }',
    'milestone',
    '...F',
    'milestone(index: $n) { index }',
    'milestone { index @skip }',
    'milestone(index: "1") { index }',
    'milestone(index: 1, index: 1) { index }',
    '... on Nothing { __typename }',
  ])('that is not valid is not prepared, whatever is wrong: %s', async (fields) => {
    const prepare = createQueries()
    expect(await prepare(long(''))).toBeDefined()
    expect(await prepare(long(fields))).toBeUndefined()
  })

  test('is checked by each rule', () => {
    const rules = partsOfRules.flat()
    expect(rules.toSorted(byName)).toEqual(specifiedRules.toSorted(byName))
  })

  const byName = (one: { name: string }, other: { name: string }) =>
    one.name < other.name ? -1 : 1
})

test('a query is cached from its second request on', async () => {
  const graphql = createGraphqlServer({ schema, log: silentLog, documents: createDocuments() })
  const queries = createPreparedQueries({ graphql, schema, log: silentLog })
  const validated = vi.spyOn(graphql, 'getEnveloped')
  const counts: number[] = []
  for (let n = 0; n < 4; n++) {
    const request = { query: '{ milestone { index } }', operationName: undefined, variables: {} }
    expect(await queries.prepare(request, context())).toBeDefined()
    counts.push(validated.mock.calls.length)
  }
  expect(counts).toEqual([1, 2, 2, 2])
})

test('compiled queries with many fields, each sent twice, are not all cached', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const prepare = createQueries()
  const fields = 'cursor seq ordinal address class roles outputId isSpent balance historyHash'
  // A short text, and nearly as many fields as the limit of a compiled document.
  const lists = Array.from(
    { length: 75 },
    (_, n) => `a${n}: ${list('nodes { ...F } edges { node { ...F } }')}`,
  )
  const text = (n: number) =>
    `query Q${n} { ${lists.join(' ')} } fragment F on LedgerUpdate { ${fields} }`
  expect(75 * 25).toBeLessThan(maxCompiledFields)
  const before = heap()
  // A query is cached from its second request on.
  for (let n = 0; n < 120; n++) expect(await prepare(text(n >> 1))).toBeDefined()
  // From more than 100 MB. Parsed documents have a limit of their own, and are 17 MB of it.
  expect(heap() - before).toBeLessThan(60_000_000)
})
