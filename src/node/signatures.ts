import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Hex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { openEd25519Fallback } from './ed25519-fallback.ts'
import type { SignedMessage } from './signed-message.ts'

/**
 * Checks Ed25519 signatures by the rules of ZIP-215 (codec reference 14). OpenSSL checks first, and every signature that it accepts
 * is valid. A signature that it refuses may still be valid, so a fallback implementation, which takes 15 times as long, checks it
 * on a separate thread through a bounded queue.
 */
export interface SignatureChecker {
  /**
   * Returns one verdict per signature of a block or transaction. After the first invalid signature the fallback is not used again,
   * because nothing depends on its result: the signatures that OpenSSL refused count as invalid. Returns an error when the queue of
   * the fallback is full. Signatures that OpenSSL accepts never use the queue.
   */
  check(items: readonly SignedMessage[]): Promise<Result<boolean[], SignatureCheckBusy>>
  counts(): SignatureCounts
  close(): Promise<void>
}

/** Number of signatures checked since the start, and number of waiting ones. */
export interface SignatureCounts {
  readonly byOpenSsl: number
  /** Signatures that OpenSSL refused and the fallback checked. */
  readonly byFallback: number
  /** Length of the queue of the fallback. */
  readonly waiting: number
}

/** The queue of the fallback is full. A later check may succeed. */
export interface SignatureCheckBusy {
  readonly code: 'SIGNATURE_CHECK_BUSY'
  readonly waiting: number
}

/** Opens a checker. At most `queueLimit` signatures wait for the fallback, which takes about 1 ms per signature. */
export function openSignatureChecker(deps: { readonly queueLimit: number }): SignatureChecker {
  const fallback = openEd25519Fallback()
  let byOpenSsl = 0
  let byFallback = 0

  async function check(items: readonly SignedMessage[]) {
    byOpenSsl += items.length
    const verdicts = await Promise.all(items.map(isValidForOpenSsl))
    for (const [index, item] of items.entries()) {
      if (verdicts[index] === true) continue
      const waiting = fallback.waiting()
      if (waiting >= deps.queueLimit) return err({ code: 'SIGNATURE_CHECK_BUSY', waiting } as const)
      // Sequential: a block with many invalid signatures takes one place in the queue.
      byFallback++
      const isValid = await fallback.verify(item)
      if (!isValid) break
      verdicts[index] = true
    }
    return ok(verdicts)
  }

  const counts = () => ({ byOpenSsl, byFallback, waiting: fallback.waiting() })
  return { check, counts, close: fallback.close }
}

/** Runs on the threads of libuv. */
function isValidForOpenSsl(item: SignedMessage): Promise<boolean> {
  const key = keyOf(item.publicKey)
  return new Promise((resolve) => {
    // An error means that OpenSSL could not read the signature, which counts as a refusal.
    verify(null, item.message, key, hexToBytes(item.signature), (error, isValid) =>
      resolve(error === null && isValid),
    )
  })
}

/** The key object of OpenSSL. Creating it takes the main thread 40 % of the time that a check takes another thread. */
function keyOf(publicKey: Hex): KeyObject {
  const known = keys.get(publicKey)
  if (known !== undefined) return known
  // OpenSSL reads a JSON web key ten times faster than DER.
  const x = Buffer.from(hexToBytes(publicKey)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  keys.set(publicKey, key)
  return key
}

/** A cache for the whole process, because issuers sign many blocks. A key object takes about a kilobyte. */
const keys = new LRUCache<Hex, KeyObject>({ max: 1_000 })
