import { createFifo } from '../../lib/fifo.ts'
import type { Hex } from '../../lib/hex.ts'
import { startThread } from '../../lib/thread.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { ProofAnswer, ProofOptions, ProofRequest } from './proof-worker.ts'

/**
 * Proves the outputs of a snapshot on a thread of its own, beside the writing of their rows: what they contain, line by line, and
 * the state root over their ids.
 */
export interface ProofThread {
  /** The first output of a line that its proof does not show; the line was read before. */
  unprovedIn(line: string): Promise<OutputId | undefined>
  /** The state root, once all lines were taken; the ids of all outputs are read again where the lines had not all, or memory has no room. */
  stateRoot(readIds: () => AsyncIterable<readonly OutputId[]>): Promise<Hex>
  close(): Promise<void>
}

interface Pending {
  readonly resolve: (answer: ProofAnswer) => void
  readonly reject: (cause: unknown) => void
}

/** Starts the thread. A crash of it rejects every call. */
export function openProofThread(options: ProofOptions): ProofThread {
  const pending = createFifo<Pending>()
  const worker = startThread(import.meta.url, 'proof-worker', options)
  let failure: Error | undefined
  worker.on('message', (answer: ProofAnswer) => pending.shift()?.resolve(answer))
  worker.on('error', (cause) => fail(new Error('the thread of proofs failed', { cause })))
  worker.on('exit', () => fail(new Error('the thread of proofs ended')))

  function fail(reason: Error): void {
    failure ??= reason
    for (let one = pending.shift(); one !== undefined; one = pending.shift()) one.reject(failure)
  }

  function ask(request: ProofRequest): Promise<ProofAnswer> {
    if (failure !== undefined) return Promise.reject(failure)
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject })
      worker.postMessage(request)
    })
  }

  async function stateRoot(readIds: () => AsyncIterable<readonly OutputId[]>): Promise<Hex> {
    for (;;) {
      const { root } = await ask({ end: true })
      if (root !== undefined) return root
      let former: Promise<unknown> = Promise.resolve()
      // One page is read while the former is hashed.
      for await (const ids of readIds()) {
        await former
        former = ask({ ids })
        // A failure is thrown where it is waited for.
        former.catch(() => {})
      }
      await former
    }
  }

  async function close(): Promise<void> {
    fail(new Error('the thread of proofs is closed'))
    await worker.terminate()
  }

  return {
    unprovedIn: async (line) => (await ask({ line })).unproved,
    stateRoot,
    close,
  }
}
