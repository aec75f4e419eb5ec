import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { opensslSigner } from '../../src/node/openssl-signer.ts'
import { type Keypair, keypairOf } from '../../src/protocol/keys.ts'

/** Keys for many signatures. */

/** The key of a number. */
export function keyOf(index: number): Keypair {
  return keypairOf(hexToBytes(secretOf(index)), opensslSigner)
}

/** The secret key of a number. */
export function secretOf(index: number): Hex {
  return bytesToHex(createHash('sha256').update(`bench ${index}`).digest())
}
