import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import type { Store } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import type { DatabaseSpace } from '../store/load.ts'

/** Watches the disk space. New blocks are refused before the disk is full, because a full disk stops all writes. */

/** Disk space is low: new blocks are refused, and slots are still committed. */
export interface DiskLow {
  readonly code: 'DISK_LOW'
  readonly reason: 'FREE_DISK' | 'DATABASE_SIZE'
}

/** Measures the disk space every few seconds. */
export interface SpaceWatch {
  /** Why space is low; `undefined` while there is enough. */
  low(): DiskLow | undefined
  close(): Promise<void>
}

/** The limits of the settings, in bytes. */
export interface SpaceLimits {
  /** Minimum free bytes on the disk of a SQLite file; 0 for no limit. */
  readonly minFreeDisk: number
  /** Maximum size of the database, as the database reports it. */
  readonly maxDatabaseSize: number | undefined
}

export interface SpaceWatchDeps {
  readonly store: Pick<Store, 'space'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Measures once, and then every `everyMs` milliseconds. */
export async function watchSpace(
  { store, log }: SpaceWatchDeps,
  limits: SpaceLimits,
  everyMs = defaultPauseMs,
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
      // The last measurement stays valid until the next one: an unreachable database accepts no blocks anyway.
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

/** Milliseconds between two measurements. A gateway writes at most a few megabytes per second. */
const defaultPauseMs = 2_000

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
    ? `fewer than ${minFreeDisk} bytes of the disk are free, and new blocks are refused`
    : `the database has reached ${maxDatabaseSize} bytes, and new blocks are refused`
}
