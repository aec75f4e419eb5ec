import { LRUCache } from 'lru-cache'
import { createTokenBucket } from '../lib/token-bucket.ts'
import type { SubmissionQuota } from '../service/submit/submission-quota.ts'
import type { ClientLimits } from './limits.ts'

/** What each client may add to the database a day. It is kept in memory: a process that begins anew counts anew. */

/** Makes the quotas of clients by their names. */
export function createClientQuotas(
  { payloadsPerDay, bytesPerDay }: ClientLimits,
  now: () => number = () => performance.now(),
): (client: string) => SubmissionQuota {
  const quotas = new LRUCache<string, SubmissionQuota>({ max: maxQuotas })
  const bucketOf = (perDay: number) =>
    createTokenBucket({ capacity: perDay, perSecond: perDay / daySeconds }, now)

  function quota(): SubmissionQuota {
    const payloads = bucketOf(payloadsPerDay)
    const bytes = bucketOf(bytesPerDay)
    const exceeded = { code: 'DAILY_QUOTA_EXCEEDED' } as const
    return {
      takePayload: () => {
        const limit = payloadsPerDay
        // A client that may have none signed is given the longest time there is: a day.
        const retryAfterSeconds = limit === 0 ? daySeconds : payloads.take(1)
        if (retryAfterSeconds === undefined) return undefined
        return { ...exceeded, unit: 'payloads', limit, retryAfterSeconds }
      },
      takeBytes: (count) => {
        const retryAfterSeconds = bytes.take(count)
        if (retryAfterSeconds === undefined) return undefined
        return { ...exceeded, unit: 'bytes', limit: bytesPerDay, retryAfterSeconds }
      },
    }
  }

  return (client) => {
    const known = quotas.get(client)
    if (known !== undefined) return known
    const made = quota()
    quotas.set(client, made)
    return made
  }
}

const daySeconds = 86_400

/** Those of clients that have submitted anything; of more the one that came longest ago begins anew. */
const maxQuotas = 65_536
