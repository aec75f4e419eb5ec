import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { PackedSignature } from './signed-message.ts'

/** Checks a signature with OpenSSL. */
export function isValidForOpenSsl({ publicKey, signature, message }: PackedSignature): boolean {
  return verify(null, message, keyOf(publicKey), signature)
}

/** The key object of OpenSSL. Creating it takes 40 % of the time of a check, and issuers sign many blocks. */
function keyOf(publicKey: Uint8Array): KeyObject {
  // OpenSSL reads a JSON web key ten times faster than DER.
  const x = Buffer.from(publicKey).toString('base64url')
  return getOrInsert(keys, x, () =>
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
  )
}

/** A key object takes about a kilobyte. */
const keys = new LRUCache<string, KeyObject>({ max: 1_000 })
