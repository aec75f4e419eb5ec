import { createHmac, createPrivateKey, createPublicKey, pbkdf2Sync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { opensslSigner } from '../../src/node/openssl-signer.ts'
import { blake2b256 } from '../../src/protocol/hash.ts'
import { keypairOf, walletOf } from '../../src/protocol/keys.ts'
import { runs } from '../support/runs.ts'

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('keys agree with OpenSSL', () => {
  test('in the public key, its hash, and every signature', () => {
    fc.assert(
      fc.property(secrets, fc.uint8Array({ maxLength: 300 }), (secret, message) => {
        const pair = keypairOf(secret)
        const publicKey = publicKeyOf(secret)
        expect(pair.publicKey).toBe(publicKey)
        expect(pair.publicKeyHash).toBe(
          bytesToHex(blake2b256(Buffer.from(publicKey.slice(2), 'hex'))),
        )
        expect(keypairOf(secret, opensslSigner).sign(message)).toEqual(pair.sign(message))
        expect(pair.sign(message)).toEqual({
          type: 0,
          publicKey,
          signature: bytesToHex(sign(null, message, privateKeyOf(secret))),
        })
      }),
      runs(30),
    )
  })

  test('in the keys of a mnemonic, whatever the alphabet of its words', () => {
    for (const mnemonic of ['endorse answer radar', 'caf\u00e9 ni\u00f1o', '']) {
      const seed = pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2048, 64, 'sha512')
      const node = [44, 4218, 3, 0, 7].reduce(
        (parent, index) => {
          const place = Buffer.alloc(4)
          place.writeUInt32BE(0x8000_0000 + index)
          const input = Buffer.concat([Buffer.alloc(1), parent.subarray(0, 32), place])
          return hmacSha512(parent.subarray(32), input)
        },
        hmacSha512(Buffer.from('ed25519 seed'), seed),
      )
      const expected = publicKeyOf(node.subarray(0, 32))
      expect(walletOf(mnemonic).keypair(3, 7).publicKey).toBe(expected)
    }
  })
})

function hmacSha512(key: Uint8Array, input: Uint8Array): Buffer {
  return createHmac('sha512', key).update(input).digest()
}

/** The beginning of an Ed25519 private key in DER; the secret follows. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function privateKeyOf(secret: Uint8Array) {
  return createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
}

/** Returns the last 32 bytes of the DER form. */
function publicKeyOf(secret: Uint8Array): Hex {
  const der = createPublicKey(privateKeyOf(secret)).export({ format: 'der', type: 'spki' })
  return bytesToHex(der.subarray(-32))
}
