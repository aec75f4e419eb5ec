import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { type GaugeSources, registerGauges, registerHealth } from './gauges.ts'
import { createMeters, type Meters } from './meters.ts'
import { countEvents } from './outages.ts'

/** The metrics of one gateway, in the text format of Prometheus. A process may run several gateways, so each has its own registry. */
export interface Metrics {
  readonly meters: Meters
  /** Wraps a log so that its events are counted. */
  countEvents(log: Log): Log
  /** Adds the metrics that are read on each scrape; until then the gateway is not healthy. */
  addGauges(sources: GaugeSources): void
  /** Returns all metrics as text. */
  read(): Promise<string>
  readonly contentType: string
}

/**
 * Creates the metrics, with those of the process: event loop, garbage collection, memory, open files. `worker` is the label of
 * a process if several processes share a port.
 */
export function createMetrics(worker?: string): Metrics {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  collectDefaultMetrics({ register: registry })
  const addHealth = registerHealth(registry)
  return {
    meters: createMeters(registry),
    countEvents: (log) => countEvents(log, registry),
    addGauges: (sources) => {
      addHealth(sources)
      registerGauges(registry, sources)
    },
    read: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
