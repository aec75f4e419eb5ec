import type { Result } from '../lib/result.ts'
import type {
  DistributedLog,
  DistributeError,
  DistributionStep,
} from '../store/contract/distribute.ts'
import type { Database } from '../store/database.ts'
import { distributeLog, planDistribution } from '../store/partitions/distribute-log.ts'
import { defaultMaxFormAgeMs } from '../store/partitions/log-forms.ts'
import { databaseAddress } from '../store/url.ts'
import type { ProcessIo } from './command.ts'
import { distributeDeclaration } from './declarations/ledger.ts'
import { createProgress, createWaitingReport } from './progress.ts'
import { type DatabaseCall, databaseCommand, withDatabase } from './with-database.ts'

/** Distributes the log of a Citus database over its workers. */
export const distribute = databaseCommand(
  distributeDeclaration,
  async (process, call) => {
    // SQLite is refused before its file is opened.
    if (databaseAddress(call.url)?.kind === 'sqlite') {
      return messageOf({ code: 'SHARDS_NOT_SUPPORTED' })
    }
    const given = call.flag('shards')
    const shards = given === undefined ? undefined : Number(given)
    return withDatabase({ url: call.url, schema: 'UNCHANGED' }, (database) =>
      call.values.has('dry-run')
        ? printPlan(call, database, shards)
        : distributeIn(process, { ...call, shards }, database),
    )
  },
  ({ flag }) => {
    const shards = flag('shards') ?? '1'
    const isValid = /^[0-9]{1,4}$/.test(shards) && Number(shards) > 0
    return isValid ? [] : [`--shards must be a whole number from 1 to 9999, not ${shards}`]
  },
)

async function printPlan(
  { print }: DatabaseCall,
  database: Database,
  wanted: number | undefined,
): Promise<string | undefined> {
  const plan = await planDistribution(database, wanted)
  if (!plan.ok) return messageOf(plan.error)
  const { shards, workers, steps } = plan.value
  print(steps.map(scriptOf).join('\n'), {
    ...{ shards, workers },
    steps: steps.map(({ about, statements }) => ({ about, statements })),
  })
  return undefined
}

/** Formats a step as an SQL script. */
function scriptOf({ about, runs, statements }: DistributionStep): string {
  const lines = statements.map((text) => `${text};\n`).join('')
  return `-- ${about}\n${runs === 'ALONE' ? lines : `BEGIN;\n${lines}COMMIT;\n`}`
}

interface DistributeCall extends DatabaseCall {
  readonly shards: number | undefined
}

async function distributeIn(
  process: ProcessIo,
  { shards, signal, print }: DistributeCall,
  database: Database,
): Promise<string | undefined> {
  const progress = createProgress(process, 'distribute')
  const done: Result<DistributedLog, DistributeError> = await distributeLog(database, {
    shards,
    signal,
    knownMs: 1.2 * defaultMaxFormAgeMs,
    onWaiting: createWaitingReport(process, progress),
  }).finally(progress.end)
  if (!done.ok) return messageOf(done.error)
  const { workers } = done.value
  print(`The log is in ${done.value.shards} shards on ${workers} workers.\n`, {
    ...{ shards: done.value.shards, workers },
  })
  return undefined
}

/** The error message. It starts with the code, for scripts. */
function messageOf(error: DistributeError): string {
  switch (error.code) {
    case 'SHARDS_NOT_SUPPORTED':
      return `${error.code}: SQLite is a single file; first move the ledger to a Citus coordinator with ledger-gateway export and import`
    case 'CITUS_MISSING':
      return `${error.code}: the database does not have the extension citus`
    case 'WORKERS_MISSING':
      return `${error.code}: ${error.reason}`
    case 'NOTHING_TO_DISTRIBUTE':
      return `${error.code}: the database holds no ledger`
    case 'LOG_IN_PARTITIONS':
      return `${error.code}: the log is partitioned; only an unpartitioned log can be distributed, such as after ledger-gateway export and import`
    case 'LOG_DISTRIBUTED':
      return `${error.code}: the log is already in ${error.shards} shards`
    case 'IMPORT_UNFINISHED':
      return `${error.code}: the database holds an unfinished import`
    case 'DISTRIBUTION_INTERRUPTED':
      return `${error.code}: the log is still in one table or already in shards; run the same command to continue`
  }
}
