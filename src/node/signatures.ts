import { err, ok, type Result } from '../lib/result.ts'
import { openSignatureThread } from './signature-thread.ts'
import type { SignedMessage } from './signed-message.ts'

/**
 * Checks Ed25519 signatures by the rules of ZIP-215 (codec reference 14), on two threads. A fast library checks first, and every signature
 * that it accepts is valid. A signature that it refuses may still be valid, so a fallback implementation, which takes 15 times as long or
 * more, checks it through a bounded queue.
 */
export interface SignatureChecker {
  /**
   * Returns one verdict per signature of a block or transaction. After the first invalid signature the fallback is not used again,
   * because nothing depends on its result: the signatures that the fast check refused count as invalid. Returns an error when the queue
   * of the fallback is full. Signatures that the fast check accepts never use the queue.
   */
  check(items: readonly SignedMessage[]): Promise<Result<boolean[], SignatureCheckBusy>>
  counts(): SignatureCounts
  close(): Promise<void>
}

/** Number of signatures checked since the start, and number of waiting ones. */
export interface SignatureCounts {
  readonly byFastCheck: number
  /** Signatures that the fast check refused and the fallback checked. */
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
  const fast = openSignatureThread('ed25519-worker')
  const fallback = openSignatureThread('ed25519-fallback-worker')
  let byFastCheck = 0
  let byFallback = 0

  async function check(items: readonly SignedMessage[]) {
    byFastCheck += items.length
    const verdicts = await Promise.all(items.map(fast.verify))
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

  const counts = () => ({ byFastCheck, byFallback, waiting: fallback.waiting() })
  const close = async () => void (await Promise.all([fast.close(), fallback.close()]))
  return { check, counts, close }
}
