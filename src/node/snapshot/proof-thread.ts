import { createFifo } from '../../lib/fifo.ts'
import type { Hex } from '../../lib/hex.ts'
import { startThread } from '../../lib/thread.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { ProofOptions, ProofRequest, ProofResponse } from './proof-worker.ts'

/**
 * Proves the outputs of a snapshot on a separate thread while their rows are written: their content, line by line, and the state
 * root over their ids.
 */
export interface ProofThread {
  /** The first output of a line whose proof fails. The line must have been read before. */
  unprovedIn(line: string): Promise<OutputId | undefined>
  /**
   * Computes the state root after the last line. Reads the ids of all outputs again if the lines did not contain all of them, or if
   * they do not fit in memory.
   */
  stateRoot(readIds: () => AsyncIterable<readonly OutputId[]>): Promise<Hex>
  close(): Promise<void>
}

interface Pending {
  readonly resolve: (answer: ProofResponse) => void
  readonly reject: (cause: unknown) => void
}

/** Starts the thread. A crash of the thread rejects every call. */
export function openProofThread(options: ProofOptions): ProofThread {
  const pending = createFifo<Pending>()
  const worker = startThread(import.meta.url, 'proof-worker', options)
  let failure: Error | undefined
  worker.on('message', (answer: ProofResponse) => pending.shift()?.resolve(answer))
  worker.on('error', (cause) => fail(new Error('the proof thread failed', { cause })))
  worker.on('exit', () => fail(new Error('the proof thread ended')))

  function fail(reason: Error): void {
    failure ??= reason
    for (let call = pending.shift(); call !== undefined; call = pending.shift()) {
      call.reject(failure)
    }
  }

  function ask(request: ProofRequest): Promise<ProofResponse> {
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
      // Reads a page while the thread hashes the previous one.
      for await (const ids of readIds()) {
        await former
        former = ask({ ids })
        // The next `await` reports the rejection. This handler prevents an unhandled rejection until then.
        former.catch(() => {})
      }
      await former
    }
  }

  async function close(): Promise<void> {
    fail(new Error('the proof thread is closed'))
    await worker.terminate()
  }

  return {
    unprovedIn: async (line) => (await ask({ line })).unproved,
    stateRoot,
    close,
  }
}
