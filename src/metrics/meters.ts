import { Counter, Histogram, type Registry } from 'prom-client'
import type { TransportMeters } from '../api/observer.ts'
import type { WriterTimes } from '../node/node-core.ts'
import type { OnStoreCall } from '../store/fault-log.ts'

/** Metrics that are recorded when an event happens. `gauges.ts` has the metrics that are read on each scrape. */

/** Functions that record events. Each call costs about a microsecond. */
export interface Meters extends TransportMeters, WriterTimes {
  readonly storeCall: OnStoreCall
  delivered(ms: number): void
}

const fast = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createMeters(registry: Registry): Meters {
  const metrics = metricsOf(registry)
  const requests = metrics.timer(
    'request_seconds',
    'HTTP requests until their response, without streams and long polls.',
    ['method', 'route', 'status'],
  )
  const storeCalls = metrics.timer(
    'store_call_seconds',
    'Database calls of the program. Each call is one or more statements.',
    ['side', 'call'],
    [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
  )
  const refusals = metrics.counter(
    'refusals_total',
    'Requests and operations that were refused or failed, by error code.',
    ['code'],
  )
  // An alert watches for an increase of this series, and a series that begins at 1 shows none.
  refusals.inc({ code: 'INTERNAL' }, 0)
  const delays = metrics.timer(
    'feed_delay_seconds',
    'Time from the notification of a commit in this process until its updates were written to the sockets of one group of feeds.',
  )
  return {
    request: ({ ms, ...labels }) => requests.observe(labels, ms / 1_000),
    operation: operationMeter(metrics),
    refused: (code) => refusals.inc({ code }),
    storeCall: (side, call, ms) => storeCalls.observe({ side, call }, ms / 1_000),
    ...writerMeters(metrics),
    delivered: (ms) => delays.observe(ms / 1_000),
  }
}

type Metrics = ReturnType<typeof metricsOf>

function metricsOf(registry: Registry) {
  const registers = [registry]
  return {
    timer: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
      buckets: number[] = fast,
    ) => new Histogram({ name: `ledger_gateway_${name}`, help, labelNames, buckets, registers }),
    counter: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Counter({ name: `ledger_gateway_${name}`, help, labelNames, registers }),
  }
}

function operationMeter({ timer, counter }: Metrics): Meters['operation'] {
  const operations = timer(
    'operation_seconds',
    'GraphQL queries and mutations until their response.',
    ['transport', 'kind', 'operation'],
  )
  const subscriptions = counter('subscriptions_begun_total', 'Subscriptions that were accepted.', [
    'transport',
    'operation',
  ])
  const costs = counter(
    'operation_cost_total',
    'Estimated cost of the operations, as compared with the limit. For a subscription, the cost of one event.',
    ['operation'],
  )
  const labelOf = boundedNames()
  return ({ transport, kind, name, cost, ms }) => {
    const operation = labelOf(name)
    if (kind === 'subscription') subscriptions.inc({ transport, operation })
    else operations.observe({ transport, kind, operation }, ms / 1_000)
    if (cost !== undefined) costs.inc({ operation }, cost)
  }
}

function writerMeters({ timer, counter }: Metrics): WriterTimes {
  const buckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
  const bookings = timer(
    'booking_seconds',
    'Bookings of blocks. Each booking is one database transaction.',
    [],
    buckets,
  )
  const blocks = counter('booked_blocks_total', 'Blocks that this process booked.')
  const commits = timer(
    'commit_seconds',
    'Commits of one or more slots. Each commit is one database transaction.',
    [],
    buckets,
  )
  const slots = counter('committed_slots_total', 'Slots that this process committed.')
  return {
    booked: (count, ms) => {
      bookings.observe(ms / 1_000)
      blocks.inc(count)
    },
    committed: (count, ms) => {
      commits.observe(ms / 1_000)
      slots.inc(count)
    },
  }
}

/** Maximum number of operation names with their own series. Clients choose the names, and each series takes memory. */
export const maxOperationNames = 100

/** Returns the label of an operation name. The first 100 names are labels. All later names, and names that are too long, share `other`. */
function boundedNames(): (name: string | undefined) => string {
  const known = new Set<string>()
  return (name) => {
    if (name === undefined) return 'anonymous'
    if (known.has(name)) return name
    if (known.size >= maxOperationNames || name.length > maxNameLength) return 'other'
    known.add(name)
    return name
  }
}

const maxNameLength = 100
