import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import type { Store } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import type { DatabaseSpace } from '../store/load.ts'

/** Whether there is room for new blocks: they are refused before the disk is full, for then nothing can be written. */

/** New blocks are refused, and slots go on. */
export interface DiskLow {
  readonly code: 'DISK_LOW'
  readonly reason: 'FREE_DISK' | 'DATABASE_SIZE'
}

/** The room there is, measured every few seconds. */
export interface SpaceWatch {
  /** Why there is no room; `undefined` where there is. */
  low(): DiskLow | undefined
  close(): Promise<void>
}

/** What the operator sets, in bytes. */
export interface SpaceLimits {
  /** Of the disk of a SQLite file; 0 for none. */
  readonly minFreeDisk: number
  /** Of the database, by its own measure. */
  readonly maxDatabaseSize: number | undefined
}

export interface SpaceWatchDeps {
  readonly store: Pick<Store, 'space'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Measures at once, and then again and again. */
export async function watchSpace(
  { store, log }: SpaceWatchDeps,
  limits: SpaceLimits,
  everyMs = usualPauseMs,
): Promise<SpaceWatch> {
  const outage = createOutage(log, { began: 'disk-low', over: 'disk-free' })
  const logFailure = createFailureLog(log)
  let low: DiskLow | undefined
  let measuring: Promise<void> | undefined

  async function measure(): Promise<void> {
    const space = await store.space()
    low = lowOf(space, limits)
    if (low === undefined) outage.recovered()
    else outage.failed(sentenceOf(low, limits))
  }

  function begin(): Promise<void> {
    measuring ??= measure()
      // The last measure holds until there is another: a database that is away takes no blocks anyway.
      .catch((failure: unknown) => logFailure('space-not-measured', failure))
      .finally(() => {
        measuring = undefined
      })
    return measuring
  }

  await begin()
  const timer = setInterval(begin, everyMs)
  timer.unref()
  return {
    low: () => low,
    close: async () => {
      clearInterval(timer)
      await measuring
    },
  }
}

/** A gateway writes some megabytes a second at most. */
const usualPauseMs = 2_000

function lowOf(
  { freeBytes, databaseBytes }: DatabaseSpace,
  { minFreeDisk, maxDatabaseSize }: SpaceLimits,
): DiskLow | undefined {
  if (freeBytes !== undefined && freeBytes < minFreeDisk)
    return { code: 'DISK_LOW', reason: 'FREE_DISK' }
  if (maxDatabaseSize !== undefined && databaseBytes >= maxDatabaseSize) {
    return { code: 'DISK_LOW', reason: 'DATABASE_SIZE' }
  }
  return undefined
}

function sentenceOf({ reason }: DiskLow, { minFreeDisk, maxDatabaseSize }: SpaceLimits): string {
  return reason === 'FREE_DISK'
    ? `less than ${minFreeDisk} bytes of the disk are free, and new blocks are refused`
    : `the database has ${maxDatabaseSize} bytes, and new blocks are refused`
}
