import { parentPort } from 'node:worker_threads'
import { ed25519 } from '@noble/curves/ed25519.js'
import { present } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import { lowerThreadPriority } from '../lib/thread-priority.ts'
import type { SignedMessage } from './signed-message.ts'

/** The worker thread of `ed25519-fallback.ts`: answers each request in order. */

/** A signature to check. */
export interface SignatureRequest extends SignedMessage {
  readonly id: number
}

/** The verdict on the request with the same id. */
export interface SignatureResponse {
  readonly id: number
  readonly isValid: boolean
}

lowerThreadPriority()
const port = present(parentPort, 'the port of a worker thread')
port.on('message', (request: SignatureRequest) => {
  const answer: SignatureResponse = { id: request.id, isValid: isValidForNoble(request) }
  port.postMessage(answer)
})

function isValidForNoble({ signature, message, publicKey }: SignedMessage): boolean {
  return ed25519.verify(hexToBytes(signature), message, hexToBytes(publicKey), { zip215: true })
}
