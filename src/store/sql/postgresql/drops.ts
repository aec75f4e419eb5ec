import type { RawTx } from '../../client.ts'
import { mostNamedMs } from '../../log-forms.ts'
import type { LogPartition } from '../statements.ts'
import { type OlderReaders, olderReaders } from './older-readers.ts'

/** When a partition whose rows are hidden may be dropped: when no process names it any more, and no query is older. */
export interface Drops {
  /** Asked once in a while, in transactions of their own. */
  mayDrop(tx: RawTx, partition: LogPartition): Promise<boolean>
}

/** Waits for nothing: what it has seen of a partition, it remembers until it is asked again. */
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
      if (performance.now() - since < 2 * mostNamedMs) return false
      // Who begins from now on sees that its rows are hidden.
      older ??= await olderReaders(tx)
      return (await older.find(tx)) === undefined
    },
  }
}
