import type { ServerResponse } from 'node:http'
import type { Log } from '../lib/log.ts'
import { type StartedSpan, startSpan, type TraceCarrier, traceOf } from '../lib/tracing.ts'
import type { Observation, Transport } from './observation.ts'

/** Observes each request and operation from start to end, for metrics, the log and traces. */

export interface EndedRequest {
  readonly method: string
  /** The pattern of the route, never the path: clients choose paths freely. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** An operation that was answered, or a subscription that was accepted. */
export interface EndedOperation {
  readonly transport: string
  readonly kind: string
  /** The name of the operation in its document. */
  readonly name: string | undefined
  readonly cost: number | undefined
  readonly ms: number
}

/** The metrics of requests and operations. */
export interface TransportMeters {
  request(request: EndedRequest): void
  operation(operation: EndedOperation): void
  refused(code: string): void
}

/** Observes requests and operations from start to end. */
export interface Observer {
  /** Begins an observation. `carrier` holds the trace of the client: the request headers, or the extensions of an operation. */
  begin(transport: Transport, requestId: string, carrier: TraceCarrier): Observation
  /** Ends the observation of an operation. Further calls have no effect. */
  end(observation: Observation): void
  endRequest(observation: Observation, response: ServerResponse): void
}

export interface ObserverDeps {
  readonly log: Log
  /** Duration in milliseconds from which a request or an operation is logged as slow; 0 turns this off. */
  readonly slowMs: number
  readonly meters?: TransportMeters | undefined
}

export function createObserver({ log, slowMs, meters }: ObserverDeps): Observer {
  function begin(transport: Transport, requestId: string, carrier: TraceCarrier): Observation {
    const parent = traceOf(carrier)
    return {
      transport,
      requestId,
      startedMs: performance.now(),
      span: startSpan(transport, { kind: 'server', parent }),
      route: undefined,
      operation: undefined,
      cost: undefined,
      codes: [],
      isOpenEnded: false,
      hasEnded: false,
    }
  }

  function end(observation: Observation, request?: { method: string; status: number }): void {
    if (observation.hasEnded) return
    observation.hasEnded = true
    const ms = performance.now() - observation.startedMs
    const { transport, requestId, route, operation, cost, codes, isOpenEnded } = observation
    if (meters !== undefined) {
      if (request !== undefined && !isOpenEnded) {
        meters.request({ ...request, route: route ?? unmatched, ms })
      }
      if (operation !== undefined) meters.operation({ transport, ...operation, cost, ms })
      for (const code of codes) meters.refused(code)
    }
    const fields = {
      requestId,
      transport,
      ...request,
      route,
      operation: operation?.name?.slice(0, maxLoggedName),
      kind: operation?.kind,
      ms: Math.round(ms * 10) / 10,
      cost,
      codes: codes.length === 0 ? undefined : codes,
    }
    log.debug('access', fields)
    // While the database is away, requests wait for it. The log has that fault already, and load balancers check the health every second.
    const isUnavailable = request?.status === 503 || codes.includes('STORE_AWAY')
    if (slowMs > 0 && ms >= slowMs && !isOpenEnded && !isUnavailable) {
      log.warn('slow-operation', fields)
    }
    if (observation.span !== undefined) endSpan(observation.span, observation, request)
  }

  return {
    begin,
    end,
    endRequest: (observation, response) => {
      const { method = '' } = response.req
      const endNow = () => {
        // Proxies log the same status for a client that closed the connection before the response.
        const status = response.headersSent ? response.statusCode : clientLeft
        end(observation, { method, status })
      }
      // A response that is being compressed on another thread has no headers yet.
      if (response.headersSent || response.destroyed) endNow()
      else response.once('close', endNow)
    },
  }
}

const unmatched = 'unmatched'
const clientLeft = 499
/** Characters of an operation name in the log. */
const maxLoggedName = 100

function endSpan(
  { span }: StartedSpan,
  { route, operation, requestId, codes }: Observation,
  request: { method: string; status: number } | undefined,
): void {
  const named = operation && [operation.kind, operation.name].filter(Boolean).join(' ')
  span.updateName(named ?? [request?.method, route].filter(Boolean).join(' '))
  span.setAttribute('ledger_gateway.request_id', requestId)
  if (request !== undefined) {
    span.setAttribute('http.request.method', request.method)
    span.setAttribute('http.response.status_code', request.status)
  }
  if (route !== undefined) span.setAttribute('http.route', route)
  if (operation !== undefined) span.setAttribute('graphql.operation.type', operation.kind)
  if (operation?.name !== undefined) span.setAttribute('graphql.operation.name', operation.name)
  const [code] = codes
  if (code !== undefined) span.setAttribute('error.type', code)
  span.end()
}
