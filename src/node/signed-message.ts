import { type Hex, hexToBytes } from '../lib/hex.ts'

/** A signature, the claimed public key, and the signed message. */
export interface SignedMessage {
  /** 32 bytes. */
  readonly publicKey: Hex
  readonly message: Uint8Array
  /** 64 bytes. */
  readonly signature: Hex
}

/** A signed message in bytes. */
export interface PackedSignature {
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
  readonly message: Uint8Array
}

/** Packs signatures for a message to another thread: for each the key, the signature, the length of the message (u32) and the message. */
export function packSignatures(items: readonly SignedMessage[]): Uint8Array<ArrayBuffer> {
  const size = items.reduce((sum, { message }) => sum + headLength + message.length, 0)
  const packed = new Uint8Array(size)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { publicKey, signature, message } of items) {
    packed.set(hexToBytes(publicKey), at)
    packed.set(hexToBytes(signature), at + 32)
    view.setUint32(at + 96, message.length)
    packed.set(message, at + headLength)
    at += headLength + message.length
  }
  return packed
}

/** Returns the signatures of `packSignatures`, without a copy. */
export function* unpackSignatures(packed: Uint8Array): Generator<PackedSignature> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  for (let at = 0; at < packed.length; ) {
    const start = at + headLength
    const end = start + view.getUint32(at + 96)
    yield {
      publicKey: packed.subarray(at, at + 32),
      signature: packed.subarray(at + 32, at + 96),
      message: packed.subarray(start, end),
    }
    at = end
  }
}

const headLength = 32 + 64 + 4
