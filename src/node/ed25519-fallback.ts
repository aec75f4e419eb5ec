import type { Worker } from 'node:worker_threads'
import { startThread } from '../lib/thread.ts'
import type { SignatureRequest, SignatureResponse } from './ed25519-fallback-worker.ts'
import type { SignedMessage } from './signed-message.ts'

/** Verifies signatures by ZIP-215 with noble, on a worker thread that the first request starts. */
export interface Ed25519Fallback {
  verify(item: SignedMessage): Promise<boolean>
  /** The number of pending requests. */
  waiting(): number
  close(): Promise<void>
}

interface Pending {
  readonly resolve: (isValid: boolean) => void
  readonly reject: (cause: unknown) => void
}

/** Opens the fallback. A crash of the thread rejects the pending requests, and the next request starts another thread. */
export function openEd25519Fallback(): Ed25519Fallback {
  const pendingById = new Map<number, Pending>()
  let lastId = 0
  let worker: Worker | undefined
  let isClosed = false

  function verify(item: SignedMessage): Promise<boolean> {
    // A new thread would keep the process from ending.
    if (isClosed) return Promise.reject(new Error('the signature thread is closed'))
    worker ??= start()
    lastId += 1
    const request: SignatureRequest = { id: lastId, ...item }
    return new Promise((resolve, reject) => {
      pendingById.set(request.id, { resolve, reject })
      worker?.postMessage(request)
    })
  }

  function start(): Worker {
    const started = startThread(import.meta.url, 'ed25519-fallback-worker')
    started.on('message', (answer: SignatureResponse) => {
      pendingById.get(answer.id)?.resolve(answer.isValid)
      pendingById.delete(answer.id)
    })
    started.on('error', (cause) =>
      drop(started, new Error('the signature thread failed', { cause })),
    )
    started.on('exit', () => drop(started, new Error('the signature thread ended')))
    return started
  }

  function drop(ended: Worker, reason: Error): void {
    // A failed thread also emits `exit`, and by then another thread may have started.
    if (worker !== ended) return
    worker = undefined
    for (const pending of pendingById.values()) pending.reject(reason)
    pendingById.clear()
  }

  async function close(): Promise<void> {
    isClosed = true
    await worker?.terminate()
  }

  return { verify, waiting: () => pendingById.size, close }
}
