import { createHash, createPrivateKey, sign } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { type Keypair, keypairOf } from '../../src/protocol/keys.ts'

/** Keys for many signatures: OpenSSL signs thousands of blocks in a second or two. */

/** The key of a number. */
export function keyOf(index: number): Keypair {
  const secret = hexToBytes(secretOf(index))
  const { publicKey, publicKeyHash } = keypairOf(secret)
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: text(secret), x: text(hexToBytes(publicKey)) }
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  return {
    publicKey,
    publicKeyHash,
    sign: (message) => ({
      type: 0,
      publicKey,
      signature: bytesToHex(sign(null, message, key)),
    }),
  }
}

/** What it is made of. */
export function secretOf(index: number): Hex {
  return bytesToHex(createHash('sha256').update(`bench ${index}`).digest())
}
