/** Bytes as text: `0x` and two lower-case digits per byte. All bytes in memory have this form. */
export type Hex = `0x${string}`

/** No bytes: the value of a member of a set, and the place before the first id. */
export const noBytes = new Uint8Array()

/** Converts bytes to text. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${asBuffer(bytes).toString('hex')}`
}

/** Converts a text that `bytesToHex` made back to bytes. Parse external input with a schema first. */
export function hexToBytes(hex: Hex): Uint8Array<ArrayBuffer> {
  // A copy from the buffer pool. For an id, this takes half as long as a buffer with its own memory.
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

/** Whether a text is `0x` followed by an even number of hex digits of either case. */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(text)
}

/** Returns a Buffer over the same memory. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
