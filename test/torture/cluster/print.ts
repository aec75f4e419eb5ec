import { median } from '../../bench/measure.ts'
import type { ClusterReport } from './cluster.ts'
import type { Takeover } from './lease.ts'

/** The report of a tortured cluster in lines that people can read. */
export function printReport(report: ClusterReport): void {
  const { faults, afterKill, afterPause, recoveries, ...counts } = report
  console.log(counts)
  if (afterKill.length > 0) console.log(`after a kill another gateway ${inWords(afterKill)}`)
  if (afterPause.length > 0) console.log(`after a pause another gateway ${inWords(afterPause)}`)
  if (recoveries.length > 0) {
    console.log(`after a restart of the database all were well within ${span(recoveries)}`)
  }
  for (const fault of faults.slice(0, 20)) console.log(fault)
}

/** The longest time until another gateway had taken over, in milliseconds. */
export function longestTakeover({ afterKill, afterPause }: ClusterReport): number {
  return Math.max(...[...afterKill, ...afterPause].map(({ takenMs }) => takenMs))
}

function inWords(takeovers: readonly Takeover[]): string {
  const taken = takeovers.map(({ takenMs }) => takenMs)
  const committed = takeovers.map(({ committedMs }) => committedMs)
  return `had the lease within ${span(taken)}, and had committed within ${span(committed)}`
}

function span(times: readonly number[]): string {
  return `${Math.round(median(times))} ms (median), ${Math.round(Math.max(...times))} ms (longest of ${times.length})`
}
