import { setTimeout as delay } from 'node:timers/promises'
import { err, ok, type Result } from '../../lib/result.ts'
import type { RawTx } from '../client.ts'
import type {
  DistributedLog,
  DistributeError,
  DistributeOptions,
  DistributionStep,
} from '../contract/distribute.ts'
import type { LogLock } from '../contract/partition.ts'
import type { Database } from '../database.ts'
import { type RawConnection, rawConnection } from '../raw-transactions.ts'
import { distributionSteps, workerProblem, workersText } from '../sql/postgresql/distribution.ts'
import { formOfLog } from '../sql/postgresql/partitions.ts'
import { shardsOf } from '../sql/postgresql/shards.ts'
import { withLogLock } from './log-lock.ts'

/**
 * Distributes the log over the workers of Citus while gateways read it. One transaction changes the log and ends the term of the writing
 * gateway. The next term begins with a check of the form of the log.
 */

/** Returns the steps of a distribution, and the number of shards. Changes nothing. */
export async function planDistribution(
  database: Database,
  wanted: number | undefined,
): Promise<Result<DistributionPlan, DistributeError>> {
  if (database.kind === 'sqlite') return err({ code: 'SHARDS_NOT_SUPPORTED' })
  const connection = await database.connect()
  try {
    return await planOn(
      database,
      rawConnection(async () => connection),
      wanted,
    )
  } finally {
    await connection.dispose()
  }
}

/** The planned steps of a distribution. */
export interface DistributionPlan extends DistributedLog {
  readonly steps: readonly DistributionStep[]
}

export async function distributeLog(
  database: Database,
  { shards, ...options }: DistributeOptions,
): Promise<Result<DistributedLog, DistributeError>> {
  const plan = await planDistribution(database, shards)
  if (!plan.ok) return plan
  return withLogLock(database, options, async ({ raw, lock }) => {
    for (const step of plan.value.steps) {
      if (options.signal.aborted) return err({ code: 'DISTRIBUTION_INTERRUPTED' })
      const done = await runStep(raw, lock, step, options)
      if (!done.ok) return done
    }
    return ok({ shards: plan.value.shards, workers: plan.value.workers })
  })
}

async function runStep(
  raw: RawConnection,
  lock: LogLock,
  { runs, statements }: DistributionStep,
  { knownMs, signal }: Pick<DistributeOptions, 'knownMs' | 'signal'>,
): Promise<Result<void, DistributeError>> {
  const all = async (tx: RawTx) => {
    for (const text of statements) await tx.$executeRawUnsafe(text)
  }
  switch (runs) {
    case 'ALONE':
      await all(raw)
      return ok(undefined)
    case 'TOGETHER':
      await raw.transact(all)
      return ok(undefined)
    case 'KNOWN':
      await raw.transact(all)
      // If the signal ends this wait, the command ends before its next step.
      await delay(knownMs, undefined, { signal }).catch(() => {})
      return ok(undefined)
    case 'LOCKED': {
      const done = await lock.under(all)
      return done.ok ? done : err({ code: 'DISTRIBUTION_INTERRUPTED' })
    }
  }
}

async function planOn(
  database: Database,
  raw: RawConnection,
  wanted: number | undefined,
): Promise<Result<DistributionPlan, DistributeError>> {
  if ((await database.reader.import.count()) > 0) return err({ code: 'IMPORT_UNFINISHED' })
  if ((await database.reader.network.count()) === 0) return err({ code: 'NOTHING_TO_DISTRIBUTE' })
  const [extension] = await raw.$queryRawUnsafe<object[]>(
    "SELECT extversion FROM pg_extension WHERE extname = 'citus'",
  )
  if (extension === undefined) return err({ code: 'CITUS_MISSING' })
  const form = await formOfLog(raw)
  if (form.partitions.length > 0 || form.checkedTo !== undefined)
    return err({ code: 'LOG_IN_PARTITIONS' })
  const workers = await raw.$queryRawUnsafe<{ answer: string; success: boolean }[]>(workersText)
  const problem = workerProblem(workers)
  if (problem !== undefined) return err({ code: 'WORKERS_MISSING', reason: problem })
  const known = await shardsOf(raw)
  if (known !== undefined && wanted !== undefined && wanted !== known)
    return err({ code: 'LOG_DISTRIBUTED', shards: known })
  const shards = known ?? wanted ?? 2 * workers.length
  const steps: DistributionStep[] = []
  for (const step of distributionSteps(shards)) {
    if ((await step.isDone?.(raw)) !== true) steps.push(step)
  }
  return ok({ shards, workers: workers.length, steps })
}
