import type { Result } from '../lib/result.ts'
import type { PartitionError, PartitionedLog } from '../store/contract/partition.ts'
import type { Database } from '../store/database.ts'
import { partitionLog } from '../store/partitions/partition-log.ts'
import { databaseAddress } from '../store/url.ts'
import { type Command, type ProcessIo, refuse } from './command.ts'
import { partitionDeclaration } from './declarations/ledger.ts'
import { createProgress, createWaitingReport } from './progress.ts'
import { type DatabaseCall, exitCodeOf, readDatabaseCall, withDatabase } from './with-database.ts'

/** Partitions the log of a PostgreSQL database. */
export const partition: Command = {
  run: async (process, words) => {
    const call = readDatabaseCall(process, partitionDeclaration, words)
    if (typeof call === 'number') return call
    const rows = rowsOf(call.flag('rows'))
    if (rows === 'INVALID') {
      return refuse(process, 'partition', [
        `--rows must be a whole number from ${minRows} to ${maxRows}, not ${call.flag('rows')}`,
      ])
    }
    return exitCodeOf(process, partitionDeclaration, () => {
      // SQLite is refused before its file is opened.
      if (databaseAddress(call.url)?.kind === 'sqlite') {
        return Promise.resolve(messageOf({ code: 'PARTITIONS_NOT_SUPPORTED' }))
      }
      return withDatabase({ url: call.url, schema: 'UNCHANGED' }, (database) =>
        partitionIn(process, { ...call, rows }, database),
      )
    })
  },
}

/** Minimum size of a partition: smaller partitions would be more than PostgreSQL plans well. */
const minRows = 100
const maxRows = 1_000_000_000_000

function rowsOf(text: string | undefined): number | undefined | 'INVALID' {
  if (text === undefined) return undefined
  const rows = /^[0-9]{1,13}$/.test(text) ? Number(text) : 0
  return rows < minRows || rows > maxRows ? 'INVALID' : rows
}

interface PartitionCall extends DatabaseCall {
  readonly rows: number | undefined
}

async function partitionIn(
  process: ProcessIo,
  { rows, values, signal, print }: PartitionCall,
  database: Database,
): Promise<string | undefined> {
  const progress = createProgress(process, 'partition')
  const done: Result<PartitionedLog, PartitionError> = await partitionLog(database, {
    rows,
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
