import { onSnapshot } from '../store/check/snapshot.ts'
import type { BlocksPruned } from '../store/contract/fill.ts'
import type { Database } from '../store/database.ts'
import type { ProcessIo } from './command.ts'
import { rebuildActivityDeclaration } from './declarations/ledger.ts'
import { createProgress, summary } from './progress.ts'
import { leaseLost, takeLease } from './take-lease.ts'
import { type DatabaseCall, databaseCommand, withLedger } from './with-database.ts'

/** Recomputes the activity statistics of a ledger. */
export const rebuildActivity = databaseCommand(rebuildActivityDeclaration, (process, call) =>
  withLedger(call.url, (database) => rebuildIn(process, call, database)),
)

async function rebuildIn(
  process: ProcessIo,
  { signal, print }: DatabaseCall,
  database: Database,
): Promise<string | undefined> {
  if ((await database.reader.network.count()) === 0) return 'the database holds no ledger'
  const lease = await takeLease(database, signal)
  if (!lease.ok) return lease.error
  const { write, term, renew, release } = lease.value
  const progress = createProgress(process, 'rebuild-activity')
  const ofRows = await onSnapshot(database, ({ tx }) => tx.ledgerUpdate.count())

  async function rebuild(): Promise<string | undefined> {
    const forgotten = await write.forgetActivity(term)
    if (!forgotten.ok) {
      const { error } = forgotten
      return error.code === 'BLOCKS_PRUNED' ? blocksPruned(error) : leaseLost
    }
    let rows = 0
    for (let isDone = false; !isDone; ) {
      if (signal.aborted) return 'interrupted; the gateway completes the work when it starts'
      const renewed = await renew()
      const batch = renewed.ok ? await write.fillActivity(term, { rows: 10_000 }) : renewed
      if (!batch.ok) return leaseLost
      isDone = batch.value.isDone
      rows += batch.value.rows
      progress.show({ rows, ofRows })
    }
    print(`${summary(rows, progress.end())}\n`, { rows })
    return undefined
  }

  return rebuild().finally(progress.end).finally(release)
}

const blocksPruned = ({ slot }: BlocksPruned) =>
  `slot ${slot} has fewer blocks than were counted, because BLOCK_RETENTION has removed the others, which could not be counted again`
