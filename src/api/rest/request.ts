import type { IncomingHttpHeaders } from 'node:http'
import type { Result } from '../../lib/result.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import type { BodyError, LimitError } from '../errors/api-errors.ts'
import type { Caller, Identity } from '../tokens/auth.ts'

/** Requests as routes receive them. */

/** A request to a known route. */
export interface RestRequest {
  /** The path parameters by name, percent-decoded. */
  readonly params: ReadonlyMap<string, string>
  /** The query parameters by name, decoded. */
  readonly query: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  readonly requestId: string
  /**
   * Runs long-lasting work, during which the client counts as a subscriber. The signal fires when the client disconnects or the
   * gateway is about to stop.
   */
  listen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Result<T, LimitError>>
  /** Runs long-lasting work that another request of the same connection ends: its response would have to wait for this one. */
  wait<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Result<T, LimitError>>
  /** The client's daily quota of additions to the database. */
  quota(): SubmissionQuota
  /** Whether the gateway is about to stop. */
  readonly isStopping: boolean
  /** Reads the body. It can be called once, and no part of the body is read before. */
  body(): Promise<Result<Uint8Array, BodyError>>
}

/** A request with a verified token, if the route requires one, and valid parameters. */
export interface CheckedRequest extends RestRequest {
  /** The holder of the token; `undefined` if the route requires no token. */
  readonly identity: Identity | undefined
}
