import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clients } from '../clients/clients.ts'
import type { OperationDeps } from '../operation.ts'
import { startHeartbeat } from '../streams/heartbeat.ts'
import { answerEvents, type SseRequest } from '../streams/sse.ts'
import type { EventStream } from '../streams/sse-stream.ts'
import { openWebSocket } from '../streams/ws.ts'
import type { AuthDeps } from '../tokens/auth.ts'
import { watchTokens } from '../tokens/token-watch.ts'
import { spread } from './drain.ts'

/** Subscribers on WebSockets and event streams, with a shared heartbeat, token expiry and closing. */

export interface ListenersDeps extends OperationDeps {
  readonly auth: AuthDeps
  readonly clients: Clients
}

/** The transports of subscriptions: WebSocket and event stream. */
export interface Listeners {
  /** Accepts or refuses a WebSocket upgrade. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void
  /** Answers a request with an event stream. */
  answer(request: SseRequest): Promise<void>
  /** Returns the number of open connections of each transport. */
  load(): { readonly websocket: number; readonly eventStream: number }
  /**
   * Announces the stop to all feeds, and closes all connections, spread over `windowMs`. WebSockets that are still open
   * `graceMs` later are cut.
   */
  close(windowMs: number, graceMs: number): Promise<void>
}

export function openListeners(deps: ListenersDeps): Listeners {
  const { services, auth } = deps
  const heartbeat = startHeartbeat(deps.occupancy.limits.heartbeatMs)
  const tokens = watchTokens(auth.clock)
  const forgetRevocations = auth.revocations?.changes.add(tokens.check)
  const streams = new Set<EventStream>()
  const webSocket = openWebSocket({ ...deps, heartbeat, tokens })

  async function close(windowMs: number, graceMs: number): Promise<void> {
    if (streams.size + webSocket.connections() > 0) {
      await services.feed.hub.emitToAll({ topic: 'DRAINING', closesWithinMs: windowMs })
    }
    await Promise.all([
      webSocket.close(windowMs, graceMs),
      spread([...streams], windowMs, (stream) => stream.close()),
    ])
    heartbeat.stop()
    forgetRevocations?.()
    tokens.stop()
  }

  return {
    upgrade: webSocket.upgrade,
    answer: (request) => answerEvents({ ...deps, heartbeat, tokens, streams }, request),
    load: () => ({ websocket: webSocket.connections(), eventStream: streams.size }),
    close,
  }
}
