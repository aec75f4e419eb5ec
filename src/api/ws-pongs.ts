import type { WebSocket } from 'ws'

/**
 * Answers to the pings of graphql-transport-ws. The protocol's library answers each ping with its whole payload, whether the
 * client reads or not: pings of a megabyte were kept as pongs without end. (The pings of RFC 6455 below are of at most 125
 * bytes, and `ws` cuts a client that has not read 60 of the answers.)
 */

/** A ping that comes while the answer to a former one has not left is answered together with all that come until then. */
export function createPongs(socket: WebSocket): (payload: unknown) => void {
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
    next = pongOf(payload)
    if (!isSending) sendNext()
  }
}

/** With the payload of the ping, as the library has it, unless that is too long to be sent back. */
function pongOf(payload: unknown): string {
  const pong = JSON.stringify(payload ? { type: 'pong', payload } : { type: 'pong' })
  return pong.length > maxPongLength ? '{"type":"pong"}' : pong
}

/** Clients put a moment or a number in it. */
const maxPongLength = 1_024
