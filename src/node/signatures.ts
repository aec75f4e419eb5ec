import { createPublicKey, verify } from 'node:crypto'
import { type Hex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { openEd25519Fallback } from './ed25519-fallback.ts'

/**
 * Checks Ed25519 signatures by the rules of ZIP-215 (codec reference 14). OpenSSL is asked first: what it takes
 * is valid. What it refuses may still be valid, so a second, fifteen times dearer question goes to another
 * implementation on a thread of its own, through a queue with an end.
 */
export interface SignatureChecker {
  /**
   * One verdict for each signature of one block or transaction. After the first invalid one no second question
   * follows, since nothing depends on it: whatever is still in doubt is given as invalid. Fails when the queue
   * of second questions is full; signatures that OpenSSL takes never wait for it and never fail so.
   */
  check(items: readonly SignedMessage[]): Promise<Result<boolean[], SignatureCheckBusy>>
  close(): Promise<void>
}

/** A signature, the key it is said to be made with, and what was signed. */
export interface SignedMessage {
  /** 32 bytes. */
  readonly publicKey: Hex
  readonly message: Uint8Array
  /** 64 bytes. */
  readonly signature: Hex
}

/** Too many doubtful signatures wait already; asking again later may succeed. */
export interface SignatureCheckBusy {
  readonly code: 'SIGNATURE_CHECK_BUSY'
  readonly waiting: number
}

/** Opens a checker; at most `queueLimit` second questions (about a millisecond each) wait at a time. */
export function openSignatureChecker(deps: { readonly queueLimit: number }): SignatureChecker {
  const secondOpinion = openEd25519Fallback()

  async function check(items: readonly SignedMessage[]) {
    const verdicts = await Promise.all(items.map(isValidForOpenSsl))
    for (const [index, item] of items.entries()) {
      if (verdicts[index] === true) continue
      const waiting = secondOpinion.waiting()
      if (waiting >= deps.queueLimit) return err({ code: 'SIGNATURE_CHECK_BUSY', waiting } as const)
      // One after the other on purpose: a block of many bad signatures holds one place in the queue.
      const isValid = await secondOpinion.ask(item)
      if (!isValid) break
      verdicts[index] = true
    }
    return ok(verdicts)
  }

  return { check, close: secondOpinion.close }
}

/** Runs on libuv's threads: of 60 microseconds a signature about ten are spent on ours, making the key. */
function isValidForOpenSsl(item: SignedMessage): Promise<boolean> {
  // As a JSON web key it is read ten times as fast as in DER.
  const x = Buffer.from(hexToBytes(item.publicKey)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return new Promise((resolve) => {
    // An error means that OpenSSL could not read the signature: no different from refusing it.
    verify(null, item.message, key, hexToBytes(item.signature), (error, isValid) =>
      resolve(error === null && isValid),
    )
  })
}
