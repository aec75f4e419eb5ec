import type { OperationDefinitionNode } from 'graphql'
import type { StartedSpan } from '../lib/tracing.ts'

/** Collects facts about a request or an operation; `observer.ts` turns them into metrics, log entries and spans. */

/** An HTTP request, or an operation on a WebSocket. Code that handles it records facts here. */
export interface Observation {
  transport: Transport
  readonly requestId: string
  /** Start in milliseconds of the monotonic clock. */
  readonly startedMs: number
  readonly span: StartedSpan | undefined
  /** The pattern of the route; `undefined` for an operation on a WebSocket. */
  route: string | undefined
  operation: { readonly kind: string; readonly name: string | undefined } | undefined
  /** Estimated cost of the operation, assuming that every page is full. */
  cost: number | undefined
  /** The codes of the errors in the response, each once. */
  readonly codes: string[]
  /** Whether the client determines the duration: an event stream, or a long poll. */
  isOpenEnded: boolean
  hasEnded: boolean
}

/** The transport of a request or an operation. */
export type Transport = 'http' | 'websocket' | 'event-stream'

/** Records the requested operation. */
export function noteOperation(
  observation: Observation | undefined,
  { operation: kind, name }: OperationDefinitionNode,
): void {
  if (observation !== undefined) observation.operation = { kind, name: name?.value }
}

/** Records the code of an error in the response. */
export function noteCode(observation: Observation | undefined, code: string | undefined): void {
  if (code === undefined || observation === undefined) return
  if (!observation.codes.includes(code)) observation.codes.push(code)
}
