import { parentPort } from 'node:worker_threads'
import { present } from '../lib/assert.ts'
import { type PackedSignature, unpackSignatures } from './signed-message.ts'

/** Answers the batches of `signature-thread.ts` on a worker thread: for each signature 1 if it is valid, else 0. */
export function answerSignatures(isValid: (item: PackedSignature) => boolean): void {
  const port = present(parentPort, 'the port of a worker thread')
  port.on('message', (packed: Uint8Array) => {
    port.postMessage(Uint8Array.from(unpackSignatures(packed), (item) => Number(isValid(item))))
  })
}
