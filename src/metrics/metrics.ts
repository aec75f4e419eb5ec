import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { type GaugeSources, registerGauges } from './gauges.ts'
import { createMeters, type Meters } from './meters.ts'
import { countEvents } from './troubles.ts'

/** The metrics of one gateway, in the text format of Prometheus. A process may run several, so each has a registry of its own. */
export interface Metrics {
  readonly meters: Meters
  /** The same log, counted. */
  countEvents(log: Log): Log
  /** Adds what is read when the metrics are asked for. */
  addGauges(sources: GaugeSources): void
  /** The text. */
  read(): Promise<string>
  readonly contentType: string
}

/**
 * With the metrics of the process: event loop, collections of garbage, memory, open files. `worker` is the label of one of
 * several processes behind a port.
 */
export function createMetrics(worker?: string): Metrics {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  collectDefaultMetrics({ register: registry })
  return {
    meters: createMeters(registry),
    countEvents: (log) => countEvents(log, registry),
    addGauges: (sources) => registerGauges(registry, sources),
    read: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
