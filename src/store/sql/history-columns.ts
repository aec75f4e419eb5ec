import type { HistoryFacts } from '../contract/history.ts'
import type { Dialect } from './bulk.ts'

/** SQL columns that the history guard reads, as one row. `slot` is the SQL of the slot parameter. */
export function historyColumns({ hex }: Dialect, slot: string): string {
  const columns: { readonly [C in keyof HistoryFacts]: string } = {
    logId: `${hex('"logId"')} FROM network`,
    rewoundFrom: '"rewoundFrom" FROM published_tip',
    nextInbox: '"nextInbox" FROM writer',
    commitmentId: `${hex('id')} FROM commitments WHERE slot = ${slot}`,
  }
  return Object.entries(columns)
    .map(([name, column]) => `(SELECT ${column}) AS "${name}"`)
    .join(', ')
}
