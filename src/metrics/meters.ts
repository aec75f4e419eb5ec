import { Counter, Histogram, type Registry } from 'prom-client'
import type { TransportMeters } from '../api/observer.ts'
import type { WriterTimes } from '../node/node-core.ts'
import type { OnStoreCall } from '../store/fault-log.ts'

/** What is counted and timed where it happens; `gauges.ts` has what is read when the metrics are asked for. */

/** Counts and times. Each call costs about a microsecond. */
export interface Meters extends TransportMeters, WriterTimes {
  readonly storeCall: OnStoreCall
  delivered(ms: number): void
}

const fast = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Registers them. */
export function createMeters(registry: Registry): Meters {
  const registers = [registry]
  const requests = new Histogram({
    name: 'ledger_gateway_request_seconds',
    help: 'HTTP requests that were answered, without streams and waiting ones.',
    labelNames: ['method', 'route', 'status'],
    buckets: fast,
    registers,
  })
  const storeCalls = new Histogram({
    name: 'ledger_gateway_store_call_seconds',
    help: 'Calls of the database by the program, each one or more statements.',
    labelNames: ['side', 'call'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers,
  })
  const refusals = new Counter({
    name: 'ledger_gateway_refusals_total',
    help: 'Requests and operations that were refused or failed, by the code of the error.',
    labelNames: ['code'],
    registers,
  })
  // A fault of the gateway has an alert, and a series that begins at 1 shows no increase.
  refusals.inc({ code: 'INTERNAL' }, 0)
  const delays = new Histogram({
    name: 'ledger_gateway_feed_delay_seconds',
    help: 'From the moment this process knew of a commit until its updates were given to the sockets of one group of feeds.',
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
    help: 'GraphQL queries and mutations, until their answer.',
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
    help: 'What the operations could cost at most, as it is held against the limit; of a subscription one event.',
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
    help: 'Bookings of blocks, each one transaction of the database.',
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
    help: 'Commits of one or more slots, each one transaction of the database.',
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

/** The most names of operations that have series of their own: clients choose the names, and each series takes memory. */
export const mostOperationNames = 100

/** The first of them are labels; later ones, and long ones, share `other`. */
function boundedNames(): (name: string | undefined) => string {
  const known = new Set<string>()
  return (name) => {
    if (name === undefined) return 'anonymous'
    if (known.has(name)) return name
    if (known.size >= mostOperationNames || name.length > longestName) return 'other'
    known.add(name)
    return name
  }
}

const longestName = 100
