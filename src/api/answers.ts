import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

/** A connection with more answers under way is not read from. Those that came with the same bytes are taken all the same. */
const usuallyUnanswered = 16

/** A connection with more of them is cut. */
export const mostUnanswered = 1_024

/** Watches the answers of a server. */
export function watchAnswers(): Answers {
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
      const answers = answersOn(socket)
      answers.add(response)
      if (answers.size > mostUnanswered) return void socket.destroy()
      if (answers.size > usuallyUnanswered) socket.pause()
      response.once('close', () => {
        answers.delete(response)
        if (answers.size <= usuallyUnanswered && socket.isPaused()) socket.resume()
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
