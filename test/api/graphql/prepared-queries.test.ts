import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/graphql/budget.ts'
import type { GatewayContext } from '../../../src/api/graphql/builder.ts'
import { maxCompiledFields } from '../../../src/api/graphql/compile.ts'
import { createDocuments } from '../../../src/api/graphql/documents.ts'
import { createPreparedQueries } from '../../../src/api/graphql/prepared-queries.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { createGraphqlServer } from '../../../src/api/graphql/server.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { fullShare } from '../../support/full-share.ts'

const context = () => ({ budget: createBudget(), share: fullShare() }) as GatewayContext

function createQueries() {
  const graphql = createGraphqlServer({ schema, log: silentLog, documents: createDocuments() })
  const queries = createPreparedQueries({ graphql, schema, log: silentLog })
  return (query: string, variables = {}) =>
    queries.prepare({ query, operationName: undefined, variables }, context())
}

const list = (fields: string) => `ledgerUpdates(address: "x", first: 1) { ${fields} }`

describe('a query', () => {
  test('has a version if its response depends on the log alone', () => {
    const prepare = createQueries()
    expect(prepare(`{ ${list('totalCount')} }`)?.version).toBeDefined()
    const others = prepare(`{ ${list('totalCount')} milestone { index } }`)
    expect([others !== undefined, others?.version]).toEqual([true, undefined])
  })

  test('is prepared only if its pages are within the cost limit', () => {
    const prepare = createQueries()
    const fields = 'cursor seq ordinal address class roles outputId isSpent balance historyHash'
    const lists = Array.from(
      { length: 80 },
      (_, n) => `a${n}: ledgerUpdates(address: "x", first: $n) { nodes { ${fields} } }`,
    )
    const text = `query ($n: Int) { ${lists.join(' ')} }`
    const isPrepared = (n: number) => prepare(text, { n }) !== undefined
    expect([10, 1_000, 10, 1_000].map(isPrepared)).toEqual([true, false, true, false])
  })
})

test('compiled queries with many fields, each sent once, are not cached', () => {
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
  for (let n = 0; n < 60; n++) expect(prepare(text(n))).toBeDefined()
  // From more than 100 MB. Parsed documents have a limit of their own, and are 17 MB of it.
  expect(heap() - before).toBeLessThan(60_000_000)
})
