import type { Result } from '../lib/result.ts'
import type { Database } from '../store/database.ts'
import type { PartitionError, PartitionedLog } from '../store/partition-contract.ts'
import { partitionLog } from '../store/partition-log.ts'
import { databaseAddress } from '../store/url.ts'
import { type Command, type ProcessIo, refuse } from './command.ts'
import { partitionDeclaration } from './declarations/ledger.ts'
import { createProgress } from './progress.ts'
import { type DatabaseCall, exitCodeOf, readDatabaseCall, withDatabase } from './with-database.ts'

/** Keeps the log of a PostgreSQL database in partitions. */
export const partition: Command = {
  run: async (process, words) => {
    const call = readDatabaseCall(process, partitionDeclaration, words)
    if (typeof call === 'number') return call
    const rows = rowsOf(call.flag('rows'))
    if (rows === 'WRONG') {
      return refuse(process, 'partition', [
        `--rows must be a whole number from ${fewest} to ${most}, not ${call.flag('rows')}`,
      ])
    }
    return exitCodeOf(process, partitionDeclaration, () => {
      // Before a file is looked for.
      if (databaseAddress(call.url)?.kind === 'sqlite') {
        return Promise.resolve(sentenceOf({ code: 'PARTITIONS_NOT_SUPPORTED' }))
      }
      return withDatabase({ url: call.url, schema: 'UNCHANGED' }, (database) =>
        partitionIn(process, { ...call, rows }, database),
      )
    })
  },
}

/** Fewer would be more partitions than PostgreSQL plans well. */
const fewest = 100
const most = 1_000_000_000_000

function rowsOf(text: string | undefined): number | undefined | 'WRONG' {
  if (text === undefined) return undefined
  const rows = /^[0-9]{1,13}$/.test(text) ? Number(text) : 0
  return rows < fewest || rows > most ? 'WRONG' : rows
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
  let waitedFor = ''
  const done: Result<PartitionedLog, PartitionError> = await partitionLog(database, {
    rows,
    isSplit: values.has('split'),
    signal,
    onProgress: progress.show,
    onWaiting: (reader) => {
      if (reader === waitedFor) return
      waitedFor = reader
      progress.above(() => process.stderr(`waiting for ${reader}, which reads the log\n`))
    },
  }).finally(progress.end)
  if (!done.ok) return sentenceOf(done.error)
  const { partitions, lockedMs } = done.value
  const ranges = partitions.map(({ from, to }) => ({ first: from, last: to - 1 }))
  const lines = ranges.map(({ first, last }) => `  positions ${first} to ${last}\n`)
  const longest = Math.ceil(lockedMs)
  print(
    `The log is in ${ranges.length} partitions; no session waited longer than ${longest} ms for it.\n${lines.join('')}`,
    { partitions: ranges, lockedMs: longest },
  )
  return undefined
}

/** Each with its code, for scripts. */
function sentenceOf(error: PartitionError): string {
  switch (error.code) {
    case 'PARTITIONS_NOT_SUPPORTED':
      return `${error.code}: SQLite has no partitions; move the ledger to PostgreSQL with ledger-gateway export and import first`
    case 'NOTHING_TO_PARTITION':
      return `${error.code}: the database holds no ledger`
    case 'IMPORT_UNFINISHED':
      return `${error.code}: the database holds an import that did not come to its end`
    case 'LOG_IN_SHARDS':
      return `${error.code}: the log is in shards on several servers already`
    case 'LOG_HAS_DEPENDENTS':
      return `${error.code}: ${error.dependents.join(', ')} would be left with a part of the log; remove it first, and make it anew afterwards`
    case 'PARTITION_INTERRUPTED':
      return `${error.code}: the log is as it was, or partitioned already; the same call goes on`
  }
}
