import type { Duplex } from 'node:stream'

/**
 * Passes received bytes to the broker in whole packets, few at a time. The broker handles all packets of a read at once, and its parser
 * searches all pieces of a packet for each of its topics.
 */

/** How packets are passed on. */
export interface PacketRules {
  /** Length of a packet, with its header, above which the client is cut. */
  readonly maxBytes: number
  /** Resolves when the next packets may be passed on. */
  readonly turn: () => Promise<void>
}

/** Packets that are passed on in one turn. */
const packetsPerTurn = 16

/** Intercepts the bytes between a WebSocket and its stream. */
export function passWholePackets(stream: Duplex, { maxBytes, turn }: PacketRules): void {
  const { push, _read: read } = stream
  let held = Buffer.alloc(0)
  /** The part of `held` that is not passed on yet. */
  let [start, end] = [0, 0]
  /** Length of the first packet, when its header is known. */
  let needed: number | undefined
  let isScheduled = false
  let isEnded = false

  const isWhole = () => needed !== undefined && needed <= end - start

  function hold(bytes: Uint8Array): void {
    if (end + bytes.length > held.length) {
      // Doubled, so that a packet that arrives byte by byte is copied only a few times.
      held = Buffer.concat([held.subarray(start, end)], 2 * (end - start + bytes.length))
      end -= start
      start = 0
    }
    held.set(bytes, end)
    end += bytes.length
  }

  function measure(): void {
    needed = packetLength(held.subarray(start, end))
    if (needed !== undefined && needed > maxBytes) stream.destroy()
  }

  /** Removes the next whole packets. */
  function take(): Uint8Array {
    const begin = start
    for (let count = 0; count < packetsPerTurn && isWhole(); count++) {
      start += needed ?? 0
      measure()
    }
    const packets = held.subarray(begin, start)
    if (start === end) {
      held = Buffer.alloc(0)
      start = 0
      end = 0
    }
    return packets
  }

  async function passOn(): Promise<void> {
    isScheduled = true
    await turn()
    isScheduled = false
    const packets = take()
    if (stream.destroyed) return
    push.call(stream, packets)
    schedule()
    if (isEnded && !isScheduled) push.call(stream, null)
  }

  function schedule(): void {
    if (isWhole() && !isScheduled) void passOn()
  }

  stream.push = (bytes: Uint8Array | null) => {
    if (bytes === null) {
      isEnded = true
      return !isScheduled && push.call(stream, null)
    }
    hold(bytes)
    if (!isWhole()) measure()
    schedule()
    // `false` makes the socket read no more until the stream calls `_read`.
    return !isWhole()
  }
  stream._read = (size) => {
    if (!isWhole()) read.call(stream, size)
  }
}

/** Length of the packet with this beginning (MQTT 3.1.1, 2.2.3); `undefined` while its header is incomplete. */
function packetLength(bytes: Uint8Array): number | undefined {
  let rest = 0
  for (let at = 1; at <= 4; at++) {
    const digit = bytes[at]
    if (digit === undefined) return undefined
    rest += (digit % 128) * 128 ** (at - 1)
    if (digit < 128) return 1 + at + rest
  }
  // Not a length; the broker cuts the client.
  return Infinity
}
