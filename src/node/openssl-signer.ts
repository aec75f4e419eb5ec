import { createPrivateKey, sign } from 'node:crypto'
import type { SignerOf } from '../protocol/keys.ts'

/** Signs by OpenSSL, which takes a twentieth of the time of the portable signer: the node signs on the event loop. */
export const opensslSigner: SignerOf = (secret) => {
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Beginning, secret]),
    format: 'der',
    type: 'pkcs8',
  })
  return (message) => sign(null, message, key)
}

/** What an Ed25519 key in PKCS #8 has before its 32 bytes (RFC 8410, 7). */
const pkcs8Beginning = Buffer.from('302e020100300506032b657004220420', 'hex')
