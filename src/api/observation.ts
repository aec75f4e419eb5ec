import type { OperationDefinitionNode } from 'graphql'
import type { BegunSpan } from '../lib/tracing.ts'
import type { RouteResponse } from './rest/response.ts'

/** What is known of a request or an operation; `observer.ts` makes metrics, lines of the log and spans of it. */

/** One request by HTTP, or one operation on a WebSocket. What learns more of it notes it here. */
export interface Observation {
  transport: Transport
  readonly requestId: string
  /** By the monotonic clock. */
  readonly begunMs: number
  readonly span: BegunSpan | undefined
  /** The pattern of the route; `undefined` for an operation on a WebSocket. */
  route: string | undefined
  operation: { readonly kind: string; readonly name: string | undefined } | undefined
  /** What the operation could cost at most. */
  cost: number | undefined
  /** Of the errors that it was answered with. */
  readonly codes: Set<string>
  /** Whether it lasts as long as its client wants: a stream, or a request that waits for news. */
  isOpenEnded: boolean
  hasEnded: boolean
}

/** By what it came. */
export type Transport = 'http' | 'websocket' | 'event-stream'

/** Notes which operation of its document a request asks for. */
export function noteOperation(
  observation: Observation | undefined,
  { operation: kind, name }: OperationDefinitionNode,
): void {
  if (observation !== undefined) observation.operation = { kind, name: name?.value }
}

/** Notes why a request was refused. */
export function noteRefusal(observation: Observation | undefined, response: RouteResponse): void {
  if (response.code !== undefined) observation?.codes.add(response.code)
}
