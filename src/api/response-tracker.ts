import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
    socket.once('close', () => responsesBySocket.delete(socket))
    return unfinished
  }

  return {
    add: (response) => {
      if (isClosing) closeAfter(response)
      const { socket } = response.req
      reading().count(socket)
      const unfinished = responsesOf(socket)
      const before = unfinished.at(-1)
      unfinished.push(response)
      if (unfinished.length > maxUnansweredRequests) reading().hold(socket)
      response.once('close', () => {
        unfinished.splice(unfinished.indexOf(response), 1)
        if (unfinished.length <= maxUnansweredRequests) reading().release(socket)
      })
      return before && new Promise((resolve) => before.once('close', () => resolve()))
    },
    announceClose: () => {
      isClosing = true
      for (const unfinished of responsesBySocket.values()) unfinished.forEach(closeAfter)
    },
  }
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
