import type { IncomingHttpHeaders } from 'node:http'
import type { Result } from '../../lib/result.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import type { BodyError, LimitError } from '../api-errors.ts'
import type { Caller, Identity } from '../auth.ts'

/** Requests as routes see them. */

/** A request that found its route. */
export interface RestRequest {
  /** The parameters of the path by name, percent-decoded. */
  readonly params: ReadonlyMap<string, string>
  /** The known query parameters that were given, decoded. */
  readonly query: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  readonly requestId: string
  /**
   * Waits on behalf of the client, which counts as a subscriber meanwhile. The signal fires when the client has left or the
   * gateway is about to stop.
   */
  listen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Result<T, LimitError>>
  /** What the client may still add to the database. */
  quota(): SubmissionQuota
  /** Whether the gateway is about to stop. */
  readonly isStopping: boolean
  /** Reads the body, once; nothing of it is read before this call. */
  body(): Promise<Result<Uint8Array, BodyError>>
}

/** A request whose parameters have been read. */
export interface CheckedRequest extends RestRequest {
  /** The holder of the token; of a route that needs one. */
  readonly identity: Identity | undefined
}
