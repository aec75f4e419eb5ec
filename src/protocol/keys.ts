import { createHmac, createPrivateKey, createPublicKey, pbkdf2Sync, sign } from 'node:crypto'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { publicKeyHash } from './ids.ts'
import type { Ed25519Signature } from './unlocks.ts'

/**
 * Ed25519 keys from a mnemonic, as wallets derive them (BIP-39, SLIP-10). By OpenSSL: every gateway derives its
 * development keys when it starts, and in JavaScript that took a tenth of the start.
 */

/** A key pair that can sign. */
export interface Keypair {
  readonly publicKey: Hex
  /** H(public key): what an address and a block issuer key hold. */
  readonly publicKeyHash: Hex
  sign(message: Uint8Array): Ed25519Signature
}

/** The keys of one wallet. Deriving the seed takes a millisecond; a key after it a tenth of that. */
export interface Wallet {
  /** The key at m/44'/4218'/account'/0'/index'. */
  keypair(account: number, index: number): Keypair
}

/** The wallet of a mnemonic; the words are not checked against a list. */
export function walletOf(mnemonic: string): Wallet {
  const seed = pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2048, 64, 'sha512')
  const root = splitKey(hmacSha512('ed25519 seed', seed))
  return {
    keypair: (account, index) =>
      keypairOf([44, coinType, account, 0, index].reduce(childKey, root).secret),
  }
}

/** The key pair of a 32-byte secret. */
export function keypairOf(secret: Uint8Array): Keypair {
  // As a JSON web key it is read ten times as fast as in DER; the public half is not asked for, and computed.
  const d = Buffer.from(secret).toString('base64url')
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x: '' }, format: 'jwk' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey = bytesToHex(Buffer.from(x, 'base64url'))
  return {
    publicKey,
    publicKeyHash: publicKeyHash(publicKey),
    sign: (message) => ({
      type: 0,
      publicKey,
      signature: bytesToHex(sign(null, message, key)),
    }),
  }
}

/** Registered for the protocol's base token (SLIP-44). */
const coinType = 4218

interface ChainedKey {
  readonly secret: Uint8Array
  readonly chainCode: Uint8Array
}

/** One step down the path; Ed25519 knows hardened steps only. */
function childKey(parent: ChainedKey, index: number): ChainedKey {
  const input = new Uint8Array(37)
  input.set(parent.secret, 1)
  new DataView(input.buffer).setUint32(33, 0x8000_0000 + index)
  return splitKey(hmacSha512(parent.chainCode, input))
}

function hmacSha512(key: string | Uint8Array, input: Uint8Array): Uint8Array {
  return createHmac('sha512', key).update(input).digest()
}

function splitKey(derived: Uint8Array): ChainedKey {
  return { secret: derived.subarray(0, 32), chainCode: derived.subarray(32) }
}
