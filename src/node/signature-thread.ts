import type { Worker } from 'node:worker_threads'
import { startThread } from '../lib/thread.ts'
import { packSignatures, type SignedMessage } from './signed-message.ts'

/** A worker thread that checks Ed25519 signatures. The first check starts it. */
export interface SignatureThread {
  verify(item: SignedMessage): Promise<boolean>
  /** The number of pending checks. */
  waiting(): number
  close(): Promise<void>
}

interface Pending {
  readonly item: SignedMessage
  readonly resolve: (isValid: boolean) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Opens a thread that runs the module `name` of this folder. The checks of one turn of the event loop are one message, because a message
 * takes longer than its content. A crash of the thread rejects the pending checks, and the next check starts another thread.
 */
export function openSignatureThread(
  name: 'ed25519-worker' | 'ed25519-fallback-worker',
): SignatureThread {
  /** Checks of this turn, not sent yet. */
  let unsent: Pending[] = []
  /** The thread answers batches in their order. */
  let sent: Pending[][] = []
  let waiting = 0
  let worker: Worker | undefined
  let isClosed = false

  function verify(item: SignedMessage): Promise<boolean> {
    // A new thread would keep the process from ending.
    if (isClosed) return Promise.reject(new Error('the signature thread is closed'))
    if (unsent.length === 0) setImmediate(send)
    waiting++
    return new Promise((resolve, reject) => unsent.push({ item, resolve, reject }))
  }

  function send(): void {
    // The thread was closed in this turn.
    if (unsent.length === 0) return
    worker ??= start()
    const batch = packSignatures(unsent.map(({ item }) => item))
    sent.push(unsent)
    unsent = []
    // The process ends when only an idle thread is left.
    worker.ref()
    worker.postMessage(batch, [batch.buffer])
  }

  function start(): Worker {
    const started = startThread(import.meta.url, name)
    started.on('message', (verdicts: Uint8Array) => {
      const answered = sent.shift() ?? []
      if (sent.length === 0) started.unref()
      waiting -= answered.length
      for (const [index, { resolve }] of answered.entries()) resolve(verdicts[index] === 1)
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
    rejectAll(sent.flat(), reason)
    sent = []
  }

  function rejectAll(pending: readonly Pending[], reason: Error): void {
    waiting -= pending.length
    for (const { reject } of pending) reject(reason)
  }

  async function close(): Promise<void> {
    isClosed = true
    rejectAll(unsent, new Error('the signature thread is closed'))
    unsent = []
    await worker?.terminate()
  }

  return { verify, waiting: () => waiting, close }
}
