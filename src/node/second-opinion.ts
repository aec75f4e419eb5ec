import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SignatureAnswer, SignatureQuestion } from './second-opinion-worker.ts'
import type { SignedMessage } from './signatures.ts'

/** Asks noble, on a worker thread that starts with the first question, whether ZIP-215 takes a signature. */
export interface SecondOpinion {
  ask(item: SignedMessage): Promise<boolean>
  /** Questions that have no answer yet. */
  waiting(): number
  close(): Promise<void>
}

interface Pending {
  readonly resolve: (isValid: boolean) => void
  readonly reject: (cause: unknown) => void
}

/** Opens it. A crash of the thread rejects what waits; the next question starts another. */
export function openSecondOpinion(): SecondOpinion {
  const pendingById = new Map<number, Pending>()
  let lastId = 0
  let worker: Worker | undefined

  function ask(item: SignedMessage): Promise<boolean> {
    worker ??= start()
    lastId += 1
    const question: SignatureQuestion = { id: lastId, ...item }
    return new Promise((resolve, reject) => {
      pendingById.set(question.id, { resolve, reject })
      worker?.postMessage(question)
    })
  }

  function start(): Worker {
    const started = startWorker()
    started.on('message', (answer: SignatureAnswer) => {
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
    // A thread that failed also exits, and by then another may have begun.
    if (worker !== ended) return
    worker = undefined
    for (const pending of pendingById.values()) pending.reject(reason)
    pendingById.clear()
  }

  async function close(): Promise<void> {
    await worker?.terminate()
  }

  return { ask, waiting: () => pendingById.size, close }
}

/** The built program runs the built worker; a source tree runs the source, and lets tsx read its types. */
function startWorker(): Worker {
  const extension = extname(import.meta.url)
  const url = new URL(`./second-opinion-worker${extension}`, import.meta.url)
  if (extension === '.js') return new Worker(url)
  // The package's own entry registers nothing outside the main thread, so its function is called.
  const tsx = import.meta.resolve('tsx/esm/api')
  const register = `data:text/javascript,import { register } from '${tsx}'; register()`
  return new Worker(url, { execArgv: ['--import', register] })
}
