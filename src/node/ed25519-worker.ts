import { createRequire } from 'node:module'
import { lowerThreadPriority } from '../lib/thread-priority.ts'
import { answerSignatures } from './answer-signatures.ts'
import { isValidForOpenSsl } from './ed25519-openssl.ts'
import type { PackedSignature } from './signed-message.ts'

/**
 * The worker thread that checks signatures first: with libsodium, which takes half of the time of OpenSSL, or with OpenSSL where libsodium
 * has no build for the platform, such as musl.
 */

/** The function of sodium-native that this module uses. The package has no types. */
interface Sodium {
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean
}

lowerThreadPriority('half')
answerSignatures(checkOfSodium() ?? isValidForOpenSsl)

function checkOfSodium(): ((item: PackedSignature) => boolean) | undefined {
  try {
    const sodium: Sodium = createRequire(import.meta.url)('sodium-native')
    return ({ signature, message, publicKey }) =>
      sodium.crypto_sign_verify_detached(signature, message, publicKey)
  } catch {
    return undefined
  }
}
