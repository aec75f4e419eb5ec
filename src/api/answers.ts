import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PacedReading } from './paced-reading.ts'

/**
 * The answers under way, by their connections. A client may send many requests on one before the first is answered (RFC 9112
 * 9.3.2), and each is held until then.
 */

/** What is watched. */
export interface Answers {
  /** Watches an answer that has not begun. */
  add(response: ServerResponse): void
  /**
   * From now on every answer that has not begun says `Connection: close`. A client that keeps its connection might
   * send the next request into it in the moment in which the server closes it, and would lose that request.
   */
  closeBehind(): void
}

/** Of a connection with more answers under way nothing more is parsed. Those that came in the same piece are taken all the same. */
export const mostUnanswered = 16

/** Watches the answers of a server. */
export function watchAnswers(reading: () => PacedReading): Answers {
  const underWay = new Map<Socket, Set<ServerResponse>>()
  let isClosing = false

  function answersOn(socket: Socket): Set<ServerResponse> {
    const known = underWay.get(socket)
    if (known !== undefined) return known
    const answers = new Set<ServerResponse>()
    underWay.set(socket, answers)
    socket.once('close', () => underWay.delete(socket))
    return answers
  }

  return {
    add: (response) => {
      if (isClosing) closeAfter(response)
      const { socket } = response.req
      reading().count(socket)
      const answers = answersOn(socket)
      answers.add(response)
      if (answers.size > mostUnanswered) reading().hold(socket)
      response.once('close', () => {
        answers.delete(response)
        if (answers.size <= mostUnanswered) reading().release(socket)
      })
    },
    closeBehind: () => {
      isClosing = true
      for (const answers of underWay.values()) answers.forEach(closeAfter)
    },
  }
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
