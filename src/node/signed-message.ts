import type { Hex } from '../lib/hex.ts'

/** A signature, the key it is said to be made with, and what was signed. */
export interface SignedMessage {
  /** 32 bytes. */
  readonly publicKey: Hex
  readonly message: Uint8Array
  /** 64 bytes. */
  readonly signature: Hex
}
