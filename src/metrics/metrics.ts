import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { type GaugeSources, registerGauges, registerHealth } from './gauges.ts'
import { createMeters, type Meters } from './meters.ts'
import { countEvents } from './outages.ts'

/** The metrics of one gateway, in the text format of Prometheus. A process may run several gateways, so each has its own registry. */
export interface Metrics extends ProcessMetrics {
  readonly meters: Meters
  /** Adds the metrics that are read on each scrape; until then the gateway is not healthy. */
  addGauges(sources: GaugeSources): void
}

/** The metrics of a process: event loop, garbage collection, memory, open files, and its log events. */
export interface ProcessMetrics {
  /** Wraps a log so that its events are counted. */
  countEvents(log: Log): Log
  /** Returns all metrics as text. */
  read(): Promise<string>
  readonly contentType: string
}

/** Creates the metrics of a gateway and its process. `worker` is the label of a process if several processes share a port. */
export function createMetrics(worker?: string): Metrics {
  const registry = createRegistry(worker)
  const addHealth = registerHealth(registry)
  return {
    ...processMetrics(registry),
    meters: createMeters(registry),
    addGauges: (sources) => {
      addHealth(sources)
      registerGauges(registry, sources)
    },
  }
}

/** Creates the metrics of a process that runs no gateway itself, and therefore has no health. */
export function createProcessMetrics(worker: string): ProcessMetrics {
  return processMetrics(createRegistry(worker))
}

function createRegistry(worker: string | undefined): Registry {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  collectDefaultMetrics({ register: registry })
  return registry
}

function processMetrics(registry: Registry): ProcessMetrics {
  return {
    countEvents: (log) => countEvents(log, registry),
    read: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
