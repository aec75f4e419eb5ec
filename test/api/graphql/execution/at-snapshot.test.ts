import { GraphQLError } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maskErrors } from '../../../../src/api/graphql/execution/masking.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import type { LogEntry } from '../../../../src/store/rows.ts'
import { SnapshotOver } from '../../../../src/store/snapshot-session.ts'
import { databases } from '../../../support/databases.ts'
import { addresses, outputIdOf } from '../../../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../../../support/serve-log.ts'

/** All fields of a query are read as of one milestone (docs/decisions/032-one-moment.md). */

const [owner = '0x'] = addresses

/** Several roots and levels, each of which shows how far the log reached when it was read. */
const document = `query ($address: String!) {
  first: milestone { index updateCount next { index } previous { index next { index next { index } } } }
  list: ledgerUpdates(address: $address, first: 2) { totalCount nodes { milestoneIndex } }
  all: ledgerUpdates(first: 2) { totalCount nodes { milestoneIndex } }
  milestones(first: 2) { nodes { index next { index } updates(first: 2) { nodes { milestoneIndex } } } }
  last: milestone { index }
}`

const perSlot = 3
const entries = (slot: number): LogEntry[] =>
  Array.from({ length: perSlot }, (_, n) => ({
    address: owner,
    class: 'OWNED',
    roles: ['OWNER'],
    outputId: outputIdOf((slot % 256).toString(16).padStart(2, '0'), perSlot * (slot >> 8) + n),
    isSpent: false,
  }))

/** Returns the expected response as of a slot. */
function expected(index: number) {
  const totalCount = `${perSlot * index}`
  const nodes = [{ milestoneIndex: index }, { milestoneIndex: index }]
  const updates = { nodes }
  const previous = { index: index - 1, next: { index, next: null } }
  const before = nodes.map(() => ({ milestoneIndex: index - 1 }))
  return {
    first: { index, updateCount: `${perSlot}`, next: null, previous },
    list: { totalCount, nodes },
    all: { totalCount, nodes },
    milestones: {
      nodes: [
        { index, next: null, updates },
        { index: index - 1, next: { index }, updates: { nodes: before } },
      ],
    },
    last: { index },
  }
}

describe.each(databases)('on $name', (database) => {
  let served: ServedLog
  let isOver = false
  let committing: Promise<void>

  beforeAll(async () => {
    served = await serveLog({ database })
    await served.commit(entries(1), entries(2))
    committing = (async () => {
      while (!isOver) await served.commit(entries(served.log.slot() + 1))
    })()
  })
  afterAll(async () => {
    isOver = true
    await committing
    await served.close()
  })

  const variables = { address: addressText(owner) }
  /** Expects all fields of a response to be of the slot of its first field. */
  async function send(method: 'GET' | 'POST', accept: string, extensions?: object) {
    const sent = { query: document, variables, ...(extensions && { extensions }) }
    const texts = Object.entries(sent).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    const query = method === 'GET' ? `?${new URLSearchParams(texts)}` : ''
    const response = await fetch(`${served.url}/graphql${query}`, {
      method,
      headers: { accept, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(sent) }),
    })
    const { data, errors, extensions: returned } = await response.json()
    expect(errors).toBeUndefined()
    expect(data).toEqual(expected(data.first.index))
    return { slot: data.first.index, returned }
  }

  // A weight selects the executor instead of the compiled query.
  const ways = [
    ['POST, compiled', 'POST', 'application/json'],
    ['POST, executed', 'POST', 'application/json;q=0.9'],
    ['GET, compiled', 'GET', 'application/json'],
    ['GET, executed', 'GET', 'application/json;q=0.9'],
  ] as const

  test.each(ways)(
    '%s',
    async (_name, method, accept) => {
      const slots = new Set<number>()
      for (let n = 0; n < 40 || slots.size < 10; n++) slots.add((await send(method, accept)).slot)
      // Concurrent requests get equally correct responses.
      await Promise.all(Array.from({ length: 30 }, () => send(method, accept)))
    },
    60_000,
  )

  test('every query that begins after a commit sees it', async () => {
    for (let n = 0; n < 20; n++) {
      const committed = served.log.slot()
      expect((await send('POST', 'application/json')).slot).toBeGreaterThanOrEqual(committed)
    }
  })

  test('extensions.asOf has the milestone on request', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const { slot, returned } = await send(method, 'application/json', { asOf: true })
      expect(returned).toEqual({ asOf: slot })
    }
    expect((await send('POST', 'application/json')).returned).toBeUndefined()
  })
})

test('a query that reads for too long ends with its own error', () => {
  const error = new GraphQLError('over', { path: ['address'], originalError: new SnapshotOver() })
  const [masked] = maskErrors({ log: silentLog, requestId: 'test' }, [error])
  expect(masked?.extensions).toEqual({ code: 'QUERY_TOO_LONG', limitMs: 10_000 })
  expect(masked?.path).toEqual(['address'])
})
