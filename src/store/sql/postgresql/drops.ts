import type { RawTx } from '../../client.ts'
import { maxNamedAgeMs } from '../../partitions/log-forms.ts'
import type { LogPartition } from '../statements.ts'
import { type OlderReaders, olderReaders } from './older-readers.ts'

/** Decides when a partition with only hidden rows may be dropped: no process names it any more, and no running query is older. */
export interface Drops {
  /** Whether the partition may be dropped. Callers retry now and then, each time in a new transaction. */
  mayDrop(tx: RawTx, partition: LogPartition): Promise<boolean>
}

/** Creates the state of these decisions. It never waits: it remembers what it observed about a partition until the next call. */
export function createDrops(): Drops {
  let name: string | undefined
  let since = 0
  let older: OlderReaders | undefined

  return {
    async mayDrop(tx, partition) {
      if (partition.name !== name) {
        name = partition.name
        since = performance.now()
        older = undefined
      }
      if (performance.now() - since < 2 * maxNamedAgeMs) return false
      // A query that begins from now on sees that the rows of the partition are hidden.
      older ??= await olderReaders(tx)
      return (await older.find(tx)) === undefined
    },
  }
}
