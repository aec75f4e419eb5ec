import type { WebSocket } from 'ws'

/**
 * Answers to the pings of graphql-transport-ws. The protocol's library answers each ping with its whole payload, whether the
 * client reads or not: pings of a megabyte were kept as pongs without end. (The pings of RFC 6455 below are of at most 125
 * bytes, and `ws` cuts a client that has not read 60 of the answers.)
 */

/**
 * Pings that arrive while a pong is being sent are answered by one pong, with the payload of the last. `lengthOfPing` gives the length of
 * the message that is answered.
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
    next = pongOf(lengthOfPing() > maxPongLength ? undefined : payload)
    if (!isSending) sendNext()
  }
}

/** A pong with the payload of the ping, as the library sends it. */
function pongOf(payload: unknown): string {
  return JSON.stringify(payload ? { type: 'pong', payload } : { type: 'pong' })
}

/** The longest ping that is answered with its payload, which is usually a time or a number. */
const maxPongLength = 1_024
