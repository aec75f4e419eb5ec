import type { Result } from '../lib/result.ts'
import type { PartitionError, PartitionedLog } from '../store/contract/partition.ts'
import type { Database } from '../store/database.ts'
import { partitionLog } from '../store/partitions/partition-log.ts'
import { databaseAddress } from '../store/url.ts'
import type { ProcessIo } from './command.ts'
import { partitionDeclaration } from './declarations/ledger.ts'
import { createProgress, createWaitingReport } from './progress.ts'
import { type DatabaseCall, databaseCommand, withDatabase } from './with-database.ts'

/** Partitions the log of a PostgreSQL database. */
export const partition = databaseCommand(
  partitionDeclaration,
  async (process, call) => {
    // SQLite is refused before its file is opened.
    if (databaseAddress(call.url)?.kind === 'sqlite') {
      return messageOf({ code: 'PARTITIONS_NOT_SUPPORTED' })
    }
    return withDatabase({ url: call.url, schema: 'UNCHANGED' }, (database) =>
      partitionIn(process, call, database),
    )
  },
  ({ flag }) => {
    const rows = flag('rows') ?? String(minRows)
    const isValid = /^[0-9]{1,13}$/.test(rows) && Number(rows) >= minRows && Number(rows) <= maxRows
    return isValid
      ? []
      : [`--rows must be a whole number from ${minRows} to ${maxRows}, not ${rows}`]
  },
)

/** Minimum size of a partition: smaller partitions would be more than PostgreSQL plans well. */
const minRows = 100
const maxRows = 1_000_000_000_000

async function partitionIn(
  process: ProcessIo,
  { flag, values, signal, print }: DatabaseCall,
  database: Database,
): Promise<string | undefined> {
  const progress = createProgress(process, 'partition')
  const done: Result<PartitionedLog, PartitionError> = await partitionLog(database, {
    rows: flag('rows') === undefined ? undefined : Number(flag('rows')),
    isSplit: values.has('split'),
    signal,
    onProgress: progress.show,
    onWaiting: createWaitingReport(process, progress),
  }).finally(progress.end)
  if (!done.ok) return messageOf(done.error)
  const { partitions, lockedMs } = done.value
  const ranges = partitions.map(({ from, to }) => ({ first: from, last: to - 1 }))
  const lines = ranges.map(({ first, last }) => `  positions ${first} to ${last}\n`)
  const maxWaitMs = Math.ceil(lockedMs)
  print(
    `The log is in ${ranges.length} partitions; no session waited longer than ${maxWaitMs} ms for it.\n${lines.join('')}`,
    { partitions: ranges, lockedMs: maxWaitMs },
  )
  return undefined
}

/** The error message. It starts with the code, for scripts. */
function messageOf(error: PartitionError): string {
  switch (error.code) {
    case 'PARTITIONS_NOT_SUPPORTED':
      return `${error.code}: SQLite has no partitions; first move the ledger to PostgreSQL with ledger-gateway export and import`
    case 'NOTHING_TO_PARTITION':
      return `${error.code}: the database holds no ledger`
    case 'IMPORT_UNFINISHED':
      return `${error.code}: the database holds an unfinished import`
    case 'LOG_IN_SHARDS':
      return `${error.code}: the log is already in shards on several servers`
    case 'LOG_HAS_DEPENDENTS':
      return `${error.code}: ${error.dependents.join(', ')} would cover only a part of the log; remove it first, and recreate it afterwards`
    case 'PARTITION_INTERRUPTED':
      return `${error.code}: the log is unchanged or already partitioned; run the same command to continue`
  }
}
