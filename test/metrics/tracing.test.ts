import { randomBytes } from 'node:crypto'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inSpan } from '../../src/lib/tracing.ts'
import { graphql, socketClient } from '../support/client.ts'
import { openStream } from '../support/event-stream.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { type EndedSpan, type MemoryTracer, registerTracer } from '../support/tracer.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** Traces of a whole gateway over real sockets, with an SDK that implements the OpenTelemetry API. */

let gateway: TestGateway
let tracer: MemoryTracer

beforeAll(async () => {
  gateway = await startGateway()
  await untilHealth(gateway.url)
})
afterAll(async () => {
  await gateway.close()
})

/** Creates the ids of a trace that a client starts. */
function clientTrace() {
  const traceId = randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` }
}

type Extensions = Partial<Record<string, unknown>>
interface Follow {
  readonly ledgerUpdates: { readonly __typename: string }
}

const idsIn = (traceparent: unknown) => String(traceparent).split('-').slice(1, 3)

describe('without an SDK', () => {
  test('responses have no trace, and work runs without a span', async () => {
    const client = socketClient(gateway.url)
    const query = '{ health { term } }'
    const { traceparent } = clientTrace()
    for await (const result of client.iterate({ query, extensions: { traceparent } })) {
      expect(result).not.toHaveProperty('extensions')
    }
    await client.dispose()
    const work = async () => 7
    expect(await inSpan('work', work)).toBe(7)
  })
})

describe('with an SDK', () => {
  beforeAll(() => {
    tracer = registerTracer()
  })
  afterAll(() => tracer.unregister())

  /** Returns the spans of a trace once it has a span of this name. */
  async function spansOf(traceId: string, name: string): Promise<readonly EndedSpan[]> {
    return until(
      () => {
        const spans = tracer.spans.filter((one) => one.traceId === traceId)
        return spans.some((one) => one.name === name) && spans
      },
      { what: `a span ${name}`, deadlineMs: 10_000 },
    )
  }

  test('a REST request continues the trace of its client down to the database', async () => {
    const { traceId, spanId, traceparent } = clientTrace()
    const id = `0x${'00'.repeat(36)}`
    const url = `${gateway.url}/api/core/v3/blocks/${id}`
    expect((await rest(url, { headers: { traceparent } })).status).toBe(404)
    const spans = await spansOf(traceId, 'GET /api/core/v3/blocks/{blockId}')
    const [request] = spans.filter(({ kind }) => kind === SpanKind.SERVER)
    expect(request).toMatchObject({
      parentId: spanId,
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 404,
        'http.route': '/api/core/v3/blocks/{blockId}',
      },
    })
    expect(spans.find(({ name }) => name === 'store block')).toMatchObject({
      kind: SpanKind.CLIENT,
      parentId: request?.spanId,
    })
  })

  test.each([
    ['compiled', {}],
    ['by the executor', { accept: 'application/json;q=0.9' }],
  ])('the span of an HTTP query has the name of its operation, %s', async (_how, headers) => {
    const { traceId, traceparent } = clientTrace()
    const name = `Traced${traceId.slice(0, 8)}`
    const query = `query ${name} { ledgerUpdates(first: 2) { nodes { milestoneIndex } } }`
    await graphql(gateway.url, query, {}, { traceparent, ...headers })
    const spans = await spansOf(traceId, `query ${name}`)
    const request = spans.find((one) => one.name === `query ${name}`)
    const reads = spans.filter((one) => one.name.startsWith('store '))
    expect(reads.length).toBeGreaterThan(0)
    for (const read of reads) expect(read.parentId).toBe(request?.spanId)
  })

  test('a WebSocket query continues the trace in its extensions and returns its own trace', async () => {
    const { traceId, spanId, traceparent } = clientTrace()
    const client = socketClient(gateway.url)
    const query = 'query OnSocket { ledgerUpdates(first: 2) { nodes { milestoneIndex } } }'
    const results: (Extensions | undefined)[] = []
    const request = { query, extensions: { traceparent } }
    for await (const { extensions } of client.iterate<object, Extensions>(request)) {
      results.push(extensions)
    }
    await client.dispose()
    const spans = await spansOf(traceId, 'query OnSocket')
    const operation = spans.find(({ name }) => name === 'query OnSocket')
    expect(operation).toMatchObject({ parentId: spanId, kind: SpanKind.SERVER })
    expect(spans.some((one) => one.parentId === operation?.spanId)).toBe(true)
    expect(idsIn(results[0]?.traceparent)).toEqual([traceId, operation?.spanId])
  })

  test('a block has one trace from its request through the service to its row', async () => {
    const { traceId, traceparent } = clientTrace()
    const headers = { 'content-type': 'application/json', traceparent }
    const body = '{"type":0,"tag":"0x01"}'
    const url = `${gateway.url}/api/core/v3/blocks`
    expect((await rest(url, { method: 'POST', headers, body })).status).toBe(201)
    const spans = await spansOf(traceId, 'POST /api/core/v3/blocks')
    const named = (name: string) => spans.find((one) => one.name === name)
    const request = named('POST /api/core/v3/blocks')
    expect(named('submit block')?.parentId).toBe(request?.spanId)
    expect(named('store acceptBlocks')?.parentId).toBe(named('submit block')?.spanId)
  })

  test('the span of a rejected operation has the error code', async () => {
    const { traceId, traceparent } = clientTrace()
    const client = socketClient(gateway.url)
    const query = 'query Refused { ledgerUpdates(first: 100000) { nodes { milestoneIndex } } }'
    for await (const _ of client.iterate({ query, extensions: { traceparent } })) {
    }
    await client.dispose()
    const [refused] = (await spansOf(traceId, 'query Refused')).filter(({ name }) =>
      name.startsWith('query'),
    )
    expect(refused?.attributes['error.type']).toBe('PAGE_SIZE_OUT_OF_RANGE')
  })

  test('an update continues the trace of its commit on both transports', async () => {
    const query = 'subscription Follow { ledgerUpdates { __typename } }'
    const client = socketClient(gateway.url)
    const events = client.iterate<Follow, Extensions>({ query })
    const url = `${gateway.url}/graphql?query=${encodeURIComponent(query)}`
    const stream = await openStream(url, { headers: { accept: 'text/event-stream' } })
    await events.next()
    await stream.next()
    await until(() => tracer.spans.some(({ name }) => name === 'subscription Follow'))
    const address = 'tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0'
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    await rest(`${gateway.url}/api/enqueue`, { ...init, body: JSON.stringify({ address }) })
    const { value } = await events.next()
    expect(value?.data?.ledgerUpdates.__typename).toBe('LedgerUpdateBatch')
    const [traceId = '', deliveryId] = idsIn(value?.extensions?.traceparent)
    const spans = await spansOf(traceId, 'commit slots')
    const delivery = (await spansOf(traceId, 'feed deliver')).find(
      (one) => one.spanId === deliveryId,
    )
    const commit = spans.find(({ name }) => name === 'commit slots')
    expect(delivery?.parentId).toBe(commit?.spanId)
    const wrote = spans.find(({ name }) => name === 'store commitSlots')
    expect(wrote?.parentId).toBe(commit?.spanId)
    const sent = JSON.parse((await stream.next())?.data ?? '{}')
    expect(sent.extensions).toEqual(value?.extensions)
    stream.close()
    await events.return?.()
    await client.dispose()
  })

  test('a gateway in upstream mode forwards the trace', async () => {
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url }
    const follower = await startGateway({ env })
    const { traceId, traceparent } = clientTrace()
    const url = `${follower.url}/api/core/v3/blocks/issuance`
    expect((await rest(url, { headers: { traceparent } })).status).toBe(200)
    const name = 'GET /api/core/v3/blocks/issuance'
    const requests = await until(() => {
      const found = tracer.spans.filter((one) => one.traceId === traceId && one.name === name)
      return found.length === 2 && found
    })
    // The inner request, at the first gateway, ends before the outer one.
    const [inner, outer] = requests
    expect(inner?.parentId).not.toBe(outer?.parentId)
    const parents = tracer.spans.filter((one) => one.spanId === inner?.parentId)
    expect(parents.map(({ name, parentId }) => [name, parentId])).toEqual([
      ['upstream GET', outer?.spanId],
    ])
    await follower.close()
  })

  test('reads of the program itself create no traces', async () => {
    const { length } = tracer.spans
    await until(() => tracer.spans.slice(length).some(({ name }) => name === 'commit slots'))
    // Requests of the gateway in upstream mode may still end.
    const own = tracer.spans.slice(length).filter(({ kind }) => kind !== SpanKind.SERVER)
    const roots = own.filter(({ parentId }) => parentId === undefined)
    expect(new Set(roots.map(({ name }) => name))).toEqual(new Set(['commit slots']))
  })

  test('a failure is recorded and rethrown', async () => {
    const failure = new Error('broken')
    await expect(inSpan('failing', () => Promise.reject(failure))).rejects.toBe(failure)
    expect(tracer.spans.find(({ name }) => name === 'failing')).toMatchObject({
      status: SpanStatusCode.ERROR,
      exceptions: [failure],
    })
  })
})
