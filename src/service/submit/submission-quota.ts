/** How much a client may still have kept for ever. */

/** What is left of a day for one client. */
export interface SubmissionQuota {
  /** Takes one block that the node builds and signs, or gives why not. */
  takePayload(): DailyQuotaExceeded | undefined
  /** Takes the bytes of a block that is to be kept, or gives why not. */
  takeBytes(count: number): DailyQuotaExceeded | undefined
}

/** The client has used up what it has of a day; it comes back evenly, over a day. */
export interface DailyQuotaExceeded {
  readonly code: 'DAILY_QUOTA_EXCEEDED'
  readonly unit: 'payloads' | 'bytes'
  readonly limit: number
  /** Until there is enough for this submission. */
  readonly retryAfterSeconds: number
}
