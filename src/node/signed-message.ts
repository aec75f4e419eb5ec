import type { Hex } from '../lib/hex.ts'

/** A signature, the claimed public key, and the signed message. */
export interface SignedMessage {
  /** 32 bytes. */
  readonly publicKey: Hex
  readonly message: Uint8Array
  /** 64 bytes. */
  readonly signature: Hex
}
