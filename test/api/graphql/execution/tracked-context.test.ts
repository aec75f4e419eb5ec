import { parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationCost } from '../../../../src/api/graphql/execution/cost.ts'
import { trackContext } from '../../../../src/api/graphql/execution/tracked-context.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { present } from '../../../../src/lib/assert.ts'
import { graphql } from '../../../support/client.ts'
import { databases } from '../../../support/databases.ts'
import { textOf } from '../../../support/explorer-pages.ts'
import { scrape } from '../../../support/scrape.ts'
import { type ServedLog, serveLog } from '../../../support/serve-log.ts'
import { createSettableClock } from '../../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { until } from '../../../support/until.ts'

/** Responses that are cached as long as the data that they were computed from does not change. */

describe.each(databases)('on $name', (database) => {
  const startNs = 1_700_000_000_250_000_000n
  const clock = createSettableClock(startNs)
  let served: ServedLog
  let computed = 0

  beforeAll(async () => {
    served = await serveLog({ database, clock })
    const { store } = served.log
    const { snapshot } = store
    // Each computed response takes one snapshot.
    Object.assign(store, {
      snapshot: () => {
        computed++
        return snapshot()
      },
    })
    await served.commit([], [])
  })
  afterAll(() => served.close())

  /** Sends a document several times; returns the responses, and how many of them were computed. */
  async function send(document: string, times: number) {
    computed = 0
    const responses = []
    for (let n = 0; n < times; n++) responses.push((await served.ask(document)).data)
    return { responses, computed }
  }

  /** Expects equal responses to several requests, of which `count` are computed. */
  async function expectComputed(count: number, document: string, response: unknown) {
    const times = 5
    const sent = await send(document, times)
    expect(sent.responses).toEqual(Array(times).fill(response))
    if (database.name === 'sqlite') expect(sent.computed).toBe(count)
    // The transactions of a server share one sequence of numbers, so another database on it changes the snapshot as well.
    else await until(async () => (await send(document, times)).computed < times)
  }

  test('a response from the database alone is computed again after a change of the database', async () => {
    const document = '{ milestones(first: 1) { nodes { index updateCount } } }'
    const of = (index: number) => ({ milestones: { nodes: [{ index, updateCount: '0' }] } })
    // Of a document that was sent once, only a hash is stored.
    await expectComputed(2, document, of(2))
    clock.set(startNs + 3_600_000_000_000n)
    await expectComputed(0, document, of(2))
    await served.commit([])
    await expectComputed(1, document, of(3))
  })

  test('a response that depends on the time is computed again in the next second', async () => {
    const document = '{ activity(resolution: MINUTE) { start } }'
    const none = { activity: [] }
    clock.set(startNs)
    await expectComputed(2, document, none)
    clock.set(startNs + 749_999_999n)
    await expectComputed(0, document, none)
    clock.set(startNs + 750_000_000n)
    expect((await send(document, 1)).computed).toBe(1)
  })

  test('a response with an error is computed each time', async () => {
    // First on the fast path, and then by the executor.
    const { computed } = await send(
      '{ milestone(index: 4294967295) { index } address(address: "x") { bech32 } }',
      3,
    )
    expect(computed).toBe(6)
  })
})

describe('of the pages of an explorer,', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    // The ledger does not change by itself.
    const clock = createSettableClock(BigInt(Date.now()) * 1_000_000n)
    gateway = await startGateway({ env: { METRICS_PORT: '0' }, clock })
  })
  afterAll(() => gateway.close())

  /** Returns how many requests were computed: a prepared operation adds its cost to the metric, and a cached response adds none. */
  async function computed(page: string, times: number): Promise<number> {
    const text = textOf(page)
    const operation = present(/query (\w+)/.exec(text)?.[1], 'a name')
    const costs = async () =>
      (await scrape(gateway.metricsUrl)).sum('ledger_gateway_operation_cost_total', { operation })
    const before = await costs()
    for (let n = 0; n < times; n++) {
      expect((await graphql(gateway.url, text)).errors).toBeUndefined()
    }
    const cost = operationCost({ schema, document: parse(text), variableValues: {} })
    return ((await costs()) - before) / present(cost, 'a cost')
  }

  const cached = [
    'home',
    'milestones',
    'blocks',
    'transactions',
    'accounts',
    'validators',
    'tokens',
    'nfts',
    'rich',
  ]
  // First the gateway commits the slots up to its time, and each of them changes the database.
  test.each(cached)('%s is cached', async (page) => {
    await until(async () => (await computed(page, 2)) < 2)
  })
  test('health is not cached', async () => expect(await computed('health', 12)).toBe(12))
})

describe('the validity of a response', () => {
  type Context = Parameters<typeof trackContext>[0]
  const fullContext = {
    services: { store: {}, source: { network: {}, status: () => ({}) }, clock: {}, faucet: {} },
    caller: {},
    isStopping: false,
    share: { remaining: () => 1 },
    limits: {},
    quota: () => ({}),
  } as unknown as Context

  const rows: [string, (context: Context) => unknown, string][] = [
    ['that reads nothing', () => {}, 'UNTIL_CHANGE'],
    ['of the database', ({ services }) => services.store.read, 'UNTIL_CHANGE'],
    ['of the parameters', ({ services }) => services.parameters, 'UNTIL_CHANGE'],
    ['of the network', ({ services }) => services.source.network, 'UNTIL_CHANGE'],
    ['that checks signatures', ({ services }) => services.signatures, 'UNTIL_CHANGE'],
    ['of the validators', ({ services }) => services.stakers, 'UNTIL_CHANGE'],
    ['of the limits', ({ limits }) => limits, 'UNTIL_CHANGE'],
    ['without a node', ({ services }) => services.source.node, 'UNTIL_CHANGE'],
    ['of the time', ({ services }) => services.clock, 'UNTIL_NEXT_SECOND'],
    ['of the current slot', ({ services }) => services.source.status(), 'UNTIL_NEXT_SECOND'],
    ['of the replicas', ({ services }) => services.store.replicas, 'NOT'],
    ['that writes', ({ services }) => services.store.write, 'NOT'],
    ['of the roots in memory', ({ services }) => services.source.unspentProofs, 'NOT'],
    ['of the space for blocks', ({ services }) => services.space, 'NOT'],
    ['of the feed', ({ services }) => services.feed, 'NOT'],
    ['of the faucet', ({ services }) => services.faucet, 'NOT'],
    ['for its caller', ({ caller }) => caller, 'NOT'],
    ['of the share of its client', ({ share }) => share.remaining(), 'NOT'],
    ['that is computed in the turns of its client', ({ share }) => share.client, 'UNTIL_CHANGE'],
    ['of the quota of its client', (context) => context.quota(), 'NOT'],
    ['of whether the gateway stops', ({ isStopping }) => isStopping, 'NOT'],
  ]
  test.each(rows)('%s', (_, read, validity) => {
    const noted = trackContext(fullContext)
    read(noted.context)
    expect(noted.validity()).toBe(validity)
    // No later read makes the validity longer.
    void noted.context.services.store.read
    expect(noted.validity()).toBe(validity)
    void noted.context.caller
    void noted.context.services.clock
    expect(noted.validity()).toBe('NOT')
  })

  test('of a node', () => {
    const source = { network: {}, node: {} }
    const followed = {
      ...fullContext,
      services: { ...fullContext.services, source },
    } as unknown as Context
    const noted = trackContext(followed)
    void noted.context.services.source.node
    expect(noted.validity()).toBe('NOT')
  })
})
