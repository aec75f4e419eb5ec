import { median } from '../../bench/measure.ts'
import type { ClusterReport } from './cluster.ts'
import type { Takeover } from './lease.ts'

/** Prints the result of a run of the cluster. */
export function printReport(report: ClusterReport): void {
  const { faults, afterKill, afterPause, recoveries, ...counts } = report
  console.log(counts)
  if (afterKill.length > 0)
    console.log(`after a kill another gateway ${describeTakeovers(afterKill)}`)
  if (afterPause.length > 0)
    console.log(`after a pause another gateway ${describeTakeovers(afterPause)}`)
  if (recoveries.length > 0) {
    console.log(
      `after a restart of the database all gateways were healthy within ${medianAndLongest(recoveries)}`,
    )
  }
  for (const fault of faults.slice(0, 20)) console.log(fault)
}

/** Returns the longest time until another gateway had the lease, in milliseconds. */
export function longestTakeover({ afterKill, afterPause }: ClusterReport): number {
  return Math.max(...[...afterKill, ...afterPause].map(({ takenMs }) => takenMs))
}

function describeTakeovers(takeovers: readonly Takeover[]): string {
  const taken = takeovers.map(({ takenMs }) => takenMs)
  const committed = takeovers.map(({ committedMs }) => committedMs)
  return `had the lease within ${medianAndLongest(taken)}, and had committed a slot within ${medianAndLongest(committed)}`
}

function medianAndLongest(times: readonly number[]): string {
  return `${Math.round(median(times))} ms (median), ${Math.round(Math.max(...times))} ms (longest of ${times.length})`
}
