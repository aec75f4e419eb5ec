import { Counter, Gauge, type Registry } from 'prom-client'
import type { Log, LogFields } from '../lib/log.ts'

/** Metrics of the log events that docs/operations.md lists: whether a condition lasts, and how often an event was logged. */

/** Conditions by the event that begins each, with the events that end it. A test compares them with the document. */
export const endEvents: Readonly<Record<string, readonly string[]>> = {
  'database-away': ['database-back'],
  'database-silent': ['database-answers'],
  'database-not-writable': ['database-writable'],
  'database-damaged': [],
  'history-rewound': ['history-settled'],
  'checkpoints-failing': ['checkpoints-back'],
  'wake-up-lost': ['wake-up-back'],
  'replica-left-out': ['replicas-back'],
  'clock-behind': ['clock-right'],
  'clock-leapt': ['clock-leap-over'],
  'node-unreadable': ['node-back'],
  'node-away': ['node-back'],
  'following-stopped': [],
  'files-exhausted': ['files-free'],
  'connections-full': ['connections-free'],
  'subscriptions-full': ['subscriptions-free'],
  'inbox-full': ['inbox-free'],
  'disk-low': ['disk-free'],
  'sockets-full': ['sockets-free'],
  overloaded: ['overload-over'],
  'token-file-unusable': ['token-file-read'],
  'key-set-away': ['key-set-back'],
  migrating: ['migrations-applied'],
  'lease-unread': ['lease-read'],
}

/** Events of the document that no other event ends. */
export const singleEvents: readonly string[] = [
  'lease-given-back',
  'lease-lost',
  'building-tries',
  'log-replaced',
  'ledger-begins',
  'secret-in-arguments',
  'setting-misspelled',
  'activity-filling-failed',
  'worker-ended',
  'writer-failed',
]

/** Wraps a log so that its events are counted, including events below its level. */
export function countEvents(log: Log, registry: Registry): Log {
  const registers = [registry]
  const events = new Counter({
    name: 'ledger_gateway_log_events_total',
    help: 'Log events of the levels info, warn and error.',
    labelNames: ['event'],
    registers,
  })
  /** What each condition is about while it lasts: a node, one of the two files of tokens, or nothing in particular. */
  const lasting = new Map(Object.keys(endEvents).map((event) => [event, new Set<unknown>()]))
  new Gauge({
    name: 'ledger_gateway_trouble',
    help: '1 while a condition lasts, by the log event that begins it.',
    labelNames: ['event'],
    registers,
    collect() {
      for (const [event, about] of lasting) this.set({ event }, Number(about.size > 0))
    },
  })
  // All series start at 0, because a series that begins at 1 shows no increase.
  for (const event of [...Object.keys(endEvents), ...singleEvents]) events.inc({ event }, 0)
  const begunBy = endedBy()

  function count(event: string, about: unknown): void {
    events.inc({ event })
    lasting.get(event)?.add(about)
    for (const begun of begunBy.get(event) ?? []) lasting.get(begun)?.delete(about)
  }

  const counted = (write: Log['info']) => (event: string, fields?: LogFields) => {
    count(event, fields?.node ?? (event.startsWith('token-file-') ? fields?.path : undefined))
    write(event, fields)
  }
  return {
    debug: log.debug,
    info: counted(log.info),
    warn: counted(log.warn),
    error: counted(log.error),
  }
}

/** Returns the conditions that each event ends. */
function endedBy(): ReadonlyMap<string, readonly string[]> {
  const outages = new Map<string, string[]>()
  for (const [begun, ends] of Object.entries(endEvents)) {
    for (const end of ends) outages.set(end, [...(outages.get(end) ?? []), begun])
  }
  return outages
}
