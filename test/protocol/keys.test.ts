import { ed25519 } from '@noble/curves/ed25519.js'
import { hmac } from '@noble/hashes/hmac.js'
import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesToHex } from '../../src/lib/hex.ts'
import { blake2b256 } from '../../src/protocol/hash.ts'
import { keypairOf, walletOf } from '../../src/protocol/keys.ts'
import { runs } from '../support/runs.ts'

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('keys agree with another implementation', () => {
  test('in the public key, its hash, and every signature', () => {
    fc.assert(
      fc.property(secrets, fc.uint8Array({ maxLength: 300 }), (secret, message) => {
        const publicKey = ed25519.getPublicKey(secret)
        const pair = keypairOf(secret)
        expect(pair.publicKey).toBe(bytesToHex(publicKey))
        expect(pair.publicKeyHash).toBe(bytesToHex(blake2b256(publicKey)))
        expect(pair.sign(message)).toEqual({
          type: 0,
          publicKey: bytesToHex(publicKey),
          signature: bytesToHex(ed25519.sign(message, secret)),
        })
      }),
      runs(30),
    )
  })

  test('in what follows from a mnemonic, whatever the alphabet of its words', () => {
    for (const mnemonic of ['endorse answer radar', 'caf\u00e9 ni\u00f1o', '']) {
      const seed = pbkdf2(sha512, mnemonic.normalize('NFKD'), 'mnemonic', { c: 2048, dkLen: 64 })
      const secret = [44, 4218, 3, 0, 7].reduce(
        (node, index) => {
          const place = new Uint8Array(4)
          new DataView(place.buffer).setUint32(0, 0x8000_0000 + index)
          const input = Uint8Array.of(0, ...node.subarray(0, 32), ...place)
          return hmac(sha512, node.subarray(32), input)
        },
        hmac(sha512, new TextEncoder().encode('ed25519 seed'), seed),
      )
      const expected = bytesToHex(ed25519.getPublicKey(secret.subarray(0, 32)))
      expect(walletOf(mnemonic).keypair(3, 7).publicKey).toBe(expected)
    }
  })
})
