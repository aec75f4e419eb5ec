import { createPrivateKey, sign } from 'node:crypto'
import type { SignerOf } from '../protocol/keys.ts'

/** Signs with OpenSSL, because the node signs on the event loop. The portable signer takes 20 times as long. */
export const opensslSigner: SignerOf = (secret) => {
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Beginning, secret]),
    format: 'der',
    type: 'pkcs8',
  })
  return (message) => sign(null, message, key)
}

/** The PKCS #8 header before the 32 bytes of an Ed25519 key (RFC 8410, 7). */
const pkcs8Beginning = Buffer.from('302e020100300506032b657004220420', 'hex')
