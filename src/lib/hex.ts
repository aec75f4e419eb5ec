/** Bytes as text: `0x` and two lower-case digits a byte. The form of all bytes in memory. */
export type Hex = `0x${string}`

/** The text of some bytes. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${asBuffer(bytes).toString('hex')}`
}

/** The bytes of a text made by `bytesToHex`; outside input goes through a schema first. */
export function hexToBytes(hex: Hex): Uint8Array<ArrayBuffer> {
  // Copied from the pool of buffers: of an id that takes half as long as a buffer over bytes of its own.
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

/** Whether a text is `0x` and whole bytes, digits in either case. */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(text)
}

/** The same memory as a Buffer. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
