/** Daily quota of a client for data that is stored permanently. */

/** The remaining quota of one client. */
export interface SubmissionQuota {
  /** Counts one block that the node builds and signs; returns an error if the quota is used up. */
  takePayload(): DailyQuotaExceeded | undefined
  /** Counts the bytes of a block that will be stored; returns an error if the quota is used up. */
  takeBytes(count: number): DailyQuotaExceeded | undefined
  /** Gives back the bytes of a block that was refused or is stored already. */
  giveBackBytes(count: number): void
}

/** The client has used up its daily quota, which refills evenly over a day. */
export interface DailyQuotaExceeded {
  readonly code: 'DAILY_QUOTA_EXCEEDED'
  readonly unit: 'payloads' | 'bytes'
  readonly limit: number
  /** Seconds until the quota suffices for this submission. */
  readonly retryAfterSeconds: number
}
