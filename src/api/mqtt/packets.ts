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
  let length = 0
  /** Length of the first packet, when its header is known. */
  let needed: number | undefined
  let isScheduled = false

  const isWhole = () => needed !== undefined && needed <= length

  function hold(bytes: Uint8Array): void {
    if (length + bytes.length > held.length) {
      // Doubled, so that a packet that arrives byte by byte is copied only a few times.
      held = Buffer.concat([held.subarray(0, length)], 2 * (length + bytes.length))
    }
    held.set(bytes, length)
    length += bytes.length
  }

  function measure(): void {
    needed = packetLength(held.subarray(0, length))
    if (needed !== undefined && needed > maxBytes) stream.destroy()
  }

  async function passOn(): Promise<void> {
    isScheduled = true
    await turn()
    isScheduled = false
    let end = 0
    for (let count = 0; count < packetsPerTurn; count++) {
      const next = packetLength(held.subarray(end, length))
      if (next === undefined || end + next > length) break
      end += next
    }
    const passed = held.subarray(0, end)
    held = Buffer.from(held.subarray(end, length))
    length -= end
    measure()
    if (!stream.destroyed) push.call(stream, passed)
    if (isWhole() && !stream.destroyed) void passOn()
  }

  stream.push = (bytes: Uint8Array | null) => {
    if (bytes === null) return push.call(stream, bytes)
    hold(bytes)
    if (!isWhole()) measure()
    if (isWhole() && !isScheduled) void passOn()
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
