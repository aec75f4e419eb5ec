import type { WebSocket } from 'ws'

/**
 * Answers pings of graphql-transport-ws. The protocol library answers each ping with its whole payload, whether the client reads
 * or not: pings of a megabyte would pile up as unsent pongs without limit. (Pings of RFC 6455 have at most 125 bytes, and `ws`
 * cuts a client that has not read 60 of their pongs.)
 */

/**
 * Creates a function that answers a ping. All pings that arrive while a pong is being sent get one pong, with the payload of the
 * last ping. `lengthOfPing` returns the size of the current ping message in bytes.
 */
export function createPongs(
  socket: WebSocket,
  lengthOfPing: () => number,
): (payload: unknown) => void {
  let isSending = false
  let next: string | undefined

  function sendNext(): void {
    if (next === undefined || socket.readyState !== socket.OPEN) return
    isSending = true
    socket.send(next, () => {
      isSending = false
      sendNext()
    })
    next = undefined
  }

  return (payload) => {
    next = pongOf(lengthOfPing() > maxEchoedLength ? undefined : payload)
    if (!isSending) sendNext()
  }
}

/** Formats a pong with the payload of the ping, like the library. */
function pongOf(payload: unknown): string {
  return JSON.stringify(payload ? { type: 'pong', payload } : { type: 'pong' })
}

/** Maximum size of a ping message whose payload is returned, in bytes. A payload is usually a time or a number. */
const maxEchoedLength = 1_024
