import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { PacedReading } from './http/paced-reading.ts'

/**
 * Tracks unfinished responses by connection. A client may send many requests before the first response (RFC 9112 9.3.2). They are handled
 * one after the other, because all responses behind one that is not finished would be held in memory.
 */

/** The unfinished responses of a server. */
export interface ResponseTracker {
  /**
   * Tracks a response whose headers are not sent yet. Returns a promise if another response of its connection is not finished; it resolves
   * when all of them are.
   */
  add(response: ServerResponse): Promise<void> | undefined
  /** Returns the same promise for an upgrade request, which has no response of its own. */
  before(upgrade: IncomingMessage): Promise<void> | undefined
  /**
   * Adds `Connection: close` to every response that has not begun, from now on. A client that reuses its connection might
   * send the next request while the server closes it, and that request would be lost.
   */
  announceClose(): void
}

/**
 * Unfinished responses of a connection above which the gateway parses no further requests from it. Requests that arrived in the
 * same piece of data are still accepted.
 */
export const maxUnansweredRequests = 16

/** Creates an empty tracker. */
export function trackResponses(reading: () => PacedReading): ResponseTracker {
  const responsesBySocket = new Map<Socket, ServerResponse[]>()
  let isClosing = false

  function responsesOf(socket: Socket): ServerResponse[] {
    const known = responsesBySocket.get(socket)
    if (known !== undefined) return known
    const unfinished: ServerResponse[] = []
    responsesBySocket.set(socket, unfinished)
    socket.on('close', () => responsesBySocket.delete(socket))
    return unfinished
  }

  function before({ socket }: IncomingMessage): Promise<void> | undefined {
    const last = responsesOf(socket).at(-1)
    if (last === undefined) return undefined
    nextRequestOf(last.req).abort()
    return new Promise((resolve) => last.once('close', () => resolve()))
  }

  return {
    before,
    add: (response) => {
      if (isClosing) closeAfter(response)
      const { socket } = response.req
      reading().count(socket)
      const former = before(response.req)
      const unfinished = responsesOf(socket)
      unfinished.push(response)
      if (unfinished.length > maxUnansweredRequests) reading().hold(socket)
      response.once('close', () => {
        unfinished.splice(unfinished.indexOf(response), 1)
        if (unfinished.length <= maxUnansweredRequests) reading().release(socket)
      })
      return former
    },
    announceClose: () => {
      isClosing = true
      for (const unfinished of responsesBySocket.values()) unfinished.forEach(closeAfter)
    },
  }
}

const nextRequests = new WeakMap<IncomingMessage, AbortController>()

/** Fires when another request of the connection waits for the response to this one. */
export function nextRequest(message: IncomingMessage): AbortSignal {
  return nextRequestOf(message).signal
}

function nextRequestOf(message: IncomingMessage): AbortController {
  return getOrInsert(nextRequests, message, () => new AbortController())
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
