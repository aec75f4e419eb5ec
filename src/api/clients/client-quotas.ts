import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { createTokenBucket } from '../../lib/token-bucket.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import type { ClientLimits } from '../limits.ts'

/** Daily quotas of what each client may add to the database. They are kept in memory, so a restart resets them. */

/** Creates a function that returns the quota of a client by its name. */
export function createClientQuotas(
  { payloadsPerDay, bytesPerDay }: ClientLimits,
  now: () => number = () => performance.now(),
): (client: string) => SubmissionQuota {
  // With `max` the cache would reserve memory for all of them.
  const quotas = new LRUCache<string, SubmissionQuota>({
    maxSize: maxQuotas,
    sizeCalculation: () => 1,
  })
  const bucketOf = (perDay: number) =>
    createTokenBucket({ capacity: perDay, perSecond: perDay / daySeconds }, now)

  function quota(): SubmissionQuota {
    const payloads = bucketOf(payloadsPerDay)
    const bytes = bucketOf(bytesPerDay)
    const exceeded = { code: 'DAILY_QUOTA_EXCEEDED' } as const
    return {
      takePayload: () => {
        const limit = payloadsPerDay
        // A client without a payload quota gets the longest retry time: a day.
        const retryAfterSeconds = limit === 0 ? daySeconds : payloads.take(1)
        if (retryAfterSeconds === undefined) return undefined
        return { ...exceeded, unit: 'payloads', limit, retryAfterSeconds }
      },
      takeBytes: (count) => {
        const retryAfterSeconds = bytes.take(count)
        if (retryAfterSeconds === undefined) return undefined
        return { ...exceeded, unit: 'bytes', limit: bytesPerDay, retryAfterSeconds }
      },
      giveBackBytes: (count) => bytes.spend(-count),
    }
  }

  return (client) => getOrInsert(quotas, client, quota)
}

const daySeconds = 86_400

/** Quotas in memory. Only submitting clients have one; above this number the least recently used quota is dropped and starts full again. */
const maxQuotas = 65_536
