import { silentLog } from '../../src/lib/log.ts'
import type { Result } from '../../src/lib/result.ts'
import type {
  PartitionError,
  PartitionedLog,
  PartitionOptions,
} from '../../src/store/contract/partition.ts'
import { openDatabase } from '../../src/store/open.ts'
import { partitionLog } from '../../src/store/partitions/partition-log.ts'

/** Partitions the log of a database as the command does, without its open store. */
export async function partition(
  url: string,
  options: Partial<PartitionOptions> = {},
): Promise<Result<PartitionedLog, PartitionError>> {
  const database = await openDatabase({ url, log: silentLog, schema: 'UNCHANGED' })
  if (!database.ok) throw new Error(database.error.code)
  const { signal } = new AbortController()
  const silent = { signal, onProgress: () => {}, onWaiting: () => {} }
  const settings = { rows: undefined, isSplit: false, ...silent, ...options }
  return partitionLog(database.value, settings).finally(database.value.close)
}

/** Partitions the log, fails unless that succeeds, and returns the ranges with their first and last positions. */
export async function partitioned(
  url: string,
  options: Partial<PartitionOptions> = {},
): Promise<(readonly [number, number])[]> {
  const done = await partition(url, options)
  if (!done.ok) throw new Error(done.error.code)
  return done.value.partitions.map(({ from, to }) => [from, to - 1] as const)
}
