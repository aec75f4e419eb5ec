import type { Activity, ActivityBucket } from '../../ledger/activity.ts'
import {
  bucketOfTime,
  bucketStart,
  firstSlotOfBucket,
  type Resolution,
} from '../../ledger/activity-buckets.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Services } from '../services.ts'

/** What happened over time, for charts. */

/** How long the spans of a chart are. */
export type ActivityResolution = Exclude<Resolution, 'SLOT'>

/** Which spans; times are in Unix milliseconds. */
export interface ActivityQuestion {
  readonly resolution: ActivityResolution
  /** The beginning, itself included; left out, `defaultActivityPoints` spans before the end. */
  readonly from: number | undefined
  /** The end, itself excluded; left out, now. */
  readonly to: number | undefined
}

/** What happened in a span. */
export interface ActivityPoint extends Activity {
  /** In Unix seconds. */
  readonly start: number
  /** Whether all of its slots are committed. */
  readonly isComplete: boolean
}

/** Why a question for activity is refused. */
export type ActivityError = ActivityRangeReversed | ActivityRangeTooWide

/** The end lies before the beginning. */
export interface ActivityRangeReversed {
  readonly code: 'ACTIVITY_RANGE_REVERSED'
}

/** More spans than an answer has. */
export interface ActivityRangeTooWide {
  readonly code: 'ACTIVITY_RANGE_TOO_WIDE'
  readonly points: number
  readonly limit: number
}

/** The most points of an answer. */
export const maxActivityPoints = 1_000
/** The points of an answer where no beginning is given. */
export const defaultActivityPoints = 100

/** The spans that the time from `from` to `to` touches, the oldest first; those that are not wholly counted are left out. */
export async function readActivity(
  { store, parameters, clock }: Pick<Services, 'store' | 'parameters' | 'clock'>,
  { resolution, from, to = Number(clock.nowNs() / 1_000_000n) }: ActivityQuestion,
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
    return [{ ...span, start, isComplete: end <= range.slot }]
  }

  return ok(range.spans.flatMap(pointOf))
}
