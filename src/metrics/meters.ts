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
  const registers = [registry]
  const requests = new Histogram({
    name: 'ledger_gateway_request_seconds',
    help: 'HTTP requests until their response, without streams and long polls.',
    labelNames: ['method', 'route', 'status'],
    buckets: fast,
    registers,
  })
  const storeCalls = new Histogram({
    name: 'ledger_gateway_store_call_seconds',
    help: 'Database calls of the program. Each call is one or more statements.',
    labelNames: ['side', 'call'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers,
  })
  const refusals = new Counter({
    name: 'ledger_gateway_refusals_total',
    help: 'Requests and operations that were refused or failed, by error code.',
    labelNames: ['code'],
    registers,
  })
  // An alert watches for an increase of this series, and a series that begins at 1 shows none.
  refusals.inc({ code: 'INTERNAL' }, 0)
  const delays = new Histogram({
    name: 'ledger_gateway_feed_delay_seconds',
    help: 'Time from the notification of a commit in this process until its updates were written to the sockets of one group of feeds.',
    buckets: fast,
    registers,
  })
  return {
    request: ({ ms, ...labels }) => requests.observe(labels, ms / 1_000),
    operation: operationMeter(registry),
    refused: (code) => refusals.inc({ code }),
    storeCall: (side, call, ms) => storeCalls.observe({ side, call }, ms / 1_000),
    ...writerMeters(registry),
    delivered: (ms) => delays.observe(ms / 1_000),
  }
}

function operationMeter(registry: Registry): Meters['operation'] {
  const registers = [registry]
  const operations = new Histogram({
    name: 'ledger_gateway_operation_seconds',
    help: 'GraphQL queries and mutations until their response.',
    labelNames: ['transport', 'kind', 'operation'],
    buckets: fast,
    registers,
  })
  const subscriptions = new Counter({
    name: 'ledger_gateway_subscriptions_begun_total',
    help: 'Subscriptions that were accepted.',
    labelNames: ['transport', 'operation'],
    registers,
  })
  const costs = new Counter({
    name: 'ledger_gateway_operation_cost_total',
    help: 'Estimated cost of the operations, as compared with the limit. For a subscription, the cost of one event.',
    labelNames: ['operation'],
    registers,
  })
  const labelOf = boundedNames()
  return ({ transport, kind, name, cost, ms }) => {
    const operation = labelOf(name)
    if (kind === 'subscription') subscriptions.inc({ transport, operation })
    else operations.observe({ transport, kind, operation }, ms / 1_000)
    if (cost !== undefined) costs.inc({ operation }, cost)
  }
}

function writerMeters(registry: Registry): WriterTimes {
  const registers = [registry]
  const buckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
  const bookings = new Histogram({
    name: 'ledger_gateway_booking_seconds',
    help: 'Bookings of blocks. Each booking is one database transaction.',
    buckets,
    registers,
  })
  const blocks = new Counter({
    name: 'ledger_gateway_booked_blocks_total',
    help: 'Blocks that this process booked.',
    registers,
  })
  const commits = new Histogram({
    name: 'ledger_gateway_commit_seconds',
    help: 'Commits of one or more slots. Each commit is one database transaction.',
    buckets,
    registers,
  })
  const slots = new Counter({
    name: 'ledger_gateway_committed_slots_total',
    help: 'Slots that this process committed.',
    registers,
  })
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
