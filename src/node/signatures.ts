import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Hex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { openEd25519Fallback } from './ed25519-fallback.ts'
import type { SignedMessage } from './signed-message.ts'

/**
 * Checks Ed25519 signatures by the rules of ZIP-215 (codec reference 14). OpenSSL checks first: what it accepts is valid.
 * What it refuses may still be valid, so another implementation, which takes fifteen times as long, checks it on a
 * thread of its own, through a bounded queue.
 */
export interface SignatureChecker {
  /**
   * One verdict for each signature of one block or transaction. After the first invalid one the fallback is not asked
   * again, since nothing depends on it: what OpenSSL refused counts as invalid. Fails when the queue of the fallback is
   * full; signatures that OpenSSL accepts never wait for the queue and never fail so.
   */
  check(items: readonly SignedMessage[]): Promise<Result<boolean[], SignatureCheckBusy>>
  counts(): SignatureCounts
  close(): Promise<void>
}

/** What was checked since the start, and what waits. */
export interface SignatureCounts {
  readonly byOpenSsl: number
  /** Those that OpenSSL refused, and the fallback checked again. */
  readonly byFallback: number
  /** Of the fallback. */
  readonly waiting: number
}

/** Too many signatures wait for the fallback already; a later check may succeed. */
export interface SignatureCheckBusy {
  readonly code: 'SIGNATURE_CHECK_BUSY'
  readonly waiting: number
}

/** Opens a checker; at most `queueLimit` signatures wait for the fallback, which takes about a millisecond for each. */
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
      // One after the other: a block of many bad signatures takes one place in the queue.
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

/** Runs on libuv's threads. */
function isValidForOpenSsl(item: SignedMessage): Promise<boolean> {
  const key = keyOf(item.publicKey)
  return new Promise((resolve) => {
    // An error means that OpenSSL could not read the signature, which is a refusal as well.
    verify(null, item.message, key, hexToBytes(item.signature), (error, isValid) =>
      resolve(error === null && isValid),
    )
  })
}

/** The key as OpenSSL has it. To make one takes the main thread two fifths of what a check takes the others. */
function keyOf(publicKey: Hex): KeyObject {
  const known = keys.get(publicKey)
  if (known !== undefined) return known
  // OpenSSL reads a JSON web key ten times as fast as DER.
  const x = Buffer.from(hexToBytes(publicKey)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  keys.set(publicKey, key)
  return key
}

/** Issuers sign many blocks. Kept by the whole process, for a key is the same for all; one takes about a kilobyte. */
const keys = new LRUCache<Hex, KeyObject>({ max: 1_000 })
