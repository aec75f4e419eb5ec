import { ed25519 } from '@noble/curves/ed25519.js'
import { hmac } from '@noble/hashes/hmac.js'
import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { publicKeyHash } from './ids.ts'
import { Ed25519Signature } from './unlocks.ts'

/** Ed25519 keys from a mnemonic, as wallets derive them (BIP-39, SLIP-10). */

/** A key pair that can sign. */
export interface Keypair {
  readonly publicKey: Hex
  /** H(public key), the content of an address and of a block issuer key. */
  readonly publicKeyHash: Hex
  sign(message: Uint8Array): Ed25519Signature
}

/** The keys of one wallet. Deriving the seed takes about ten milliseconds, each key about one. */
export interface Wallet {
  /** The key at m/44'/4218'/account'/0'/index'. */
  keypair(account: number, index: number): Keypair
}

/** Creates a signer for a 32-byte secret. Signatures have 64 bytes and are deterministic (RFC 8032). */
export type SignerOf = (secret: Uint8Array) => (message: Uint8Array) => Uint8Array

/** Creates the wallet of a mnemonic. The words are not checked against a word list. */
export function walletOf(mnemonic: string, signerOf: SignerOf = portableSigner): Wallet {
  const seed = pbkdf2(sha512, mnemonic.normalize('NFKD'), 'mnemonic', { c: 2048, dkLen: 64 })
  const root = splitKey(hmac(sha512, new TextEncoder().encode('ed25519 seed'), seed))
  return {
    keypair: (account, index) =>
      keypairOf([44, coinType, account, 0, index].reduce(childKey, root).secret, signerOf),
  }
}

/** Creates the key pair of a 32-byte secret. */
export function keypairOf(secret: Uint8Array, signerOf: SignerOf = portableSigner): Keypair {
  const publicKey = bytesToHex(ed25519.getPublicKey(secret))
  const sign = signerOf(secret)
  return {
    publicKey,
    publicKeyHash: publicKeyHash(publicKey),
    sign: (message) => ({
      type: Ed25519Signature.code,
      publicKey,
      signature: bytesToHex(sign(message)),
    }),
  }
}

/** A signer that also runs in browsers; a signature takes about a millisecond. */
const portableSigner: SignerOf = (secret) => (message) => ed25519.sign(message, secret)

/** The coin type that is registered for the protocol's base token (SLIP-44). */
const coinType = 4218

interface ChainedKey {
  readonly secret: Uint8Array
  readonly chainCode: Uint8Array
}

/** Derives the key of one path step; Ed25519 supports only hardened steps. */
function childKey(parent: ChainedKey, index: number): ChainedKey {
  const input = new Uint8Array(37)
  input.set(parent.secret, 1)
  new DataView(input.buffer).setUint32(33, 0x8000_0000 + index)
  return splitKey(hmac(sha512, parent.chainCode, input))
}

function splitKey(derived: Uint8Array): ChainedKey {
  return { secret: derived.subarray(0, 32), chainCode: derived.subarray(32) }
}
