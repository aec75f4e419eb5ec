import type { Activity, ActivityBucket } from '../../ledger/activity.ts'
import {
  bucketOfTime,
  bucketStart,
  firstSlotOfBucket,
  type Resolution,
} from '../../ledger/activity-buckets.ts'
import { nowMs } from '../../lib/clock.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Services } from '../services.ts'

/** Activity of the ledger over time, for charts. */

/** Length of the spans of a chart. */
export type ActivityResolution = Exclude<Resolution, 'SLOT'>

/** Selects spans; times are in Unix milliseconds. */
export interface ActivityRequest {
  readonly resolution: ActivityResolution
  /** Start, inclusive; if left out, `defaultActivityPoints` spans before the end. */
  readonly from: number | undefined
  /** End, exclusive; now if left out. */
  readonly to: number | undefined
}

export interface ActivityPoint extends Activity {
  /** Start of the span in Unix seconds. */
  readonly start: number
  /** Whether all slots of the span are committed. */
  readonly isComplete: boolean
}

/** Why a request for activity is refused. */
export type ActivityError = ActivityRangeReversed | ActivityRangeTooWide

/** `to` is before `from`. */
export interface ActivityRangeReversed {
  readonly code: 'ACTIVITY_RANGE_REVERSED'
}

/** The range has more spans than `maxActivityPoints`. */
export interface ActivityRangeTooWide {
  readonly code: 'ACTIVITY_RANGE_TOO_WIDE'
  readonly points: number
  readonly limit: number
}

/** Maximum number of points of a response. */
export const maxActivityPoints = 1_000
/** Number of points of a response without `from`. */
export const defaultActivityPoints = 100

/** Reads the spans that overlap the time from `from` to `to`, the oldest first. Spans that are not fully counted are left out. */
export async function readActivity(
  { store, parameters, clock }: Pick<Services, 'store' | 'parameters' | 'clock'>,
  { resolution, from, to = nowMs(clock) }: ActivityRequest,
): Promise<Result<readonly ActivityPoint[], ActivityError>> {
  if (from !== undefined && to < from) return err({ code: 'ACTIVITY_RANGE_REVERSED' })
  const bucketAt = (ms: number) => bucketOfTime(parameters, resolution, Math.floor(ms / 1_000))
  const last = bucketAt(to - 1)
  const first = from === undefined ? last - defaultActivityPoints + 1 : bucketAt(from)
  const points = last - first + 1
  if (points > maxActivityPoints) {
    return err({ code: 'ACTIVITY_RANGE_TOO_WIDE', points, limit: maxActivityPoints })
  }
  const range = await store.read.activity(resolution, first, last)

  function pointOf(span: ActivityBucket): ActivityPoint[] {
    const { bucket, slots } = span
    const begin = Math.max(firstSlotOfBucket(parameters, resolution, bucket), range.first)
    const end = firstSlotOfBucket(parameters, resolution, bucket + 1) - 1
    if (slots !== Math.min(end, range.slot) - begin + 1) return []
    const start = bucketStart(parameters, resolution, bucket)
    // A time before the genesis counts as part of the first epoch, which begins later.
    if (start * 1_000 >= to) return []
    return [{ ...span, start, isComplete: end <= range.slot }]
  }

  return ok(range.spans.flatMap(pointOf))
}
