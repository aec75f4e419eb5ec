import { parentPort } from 'node:worker_threads'
import { ed25519 } from '@noble/curves/ed25519.js'
import { present } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import type { SignedMessage } from './signatures.ts'

/** The thread of `ed25519-fallback.ts`: one request, one answer, in order. */

/** A signature to judge. */
export interface SignatureQuestion extends SignedMessage {
  readonly id: number
}

/** The verdict on the question of the same id. */
export interface SignatureAnswer {
  readonly id: number
  readonly isValid: boolean
}

const port = present(parentPort, 'the port of a worker thread')
port.on('message', (question: SignatureQuestion) => {
  const answer: SignatureAnswer = { id: question.id, isValid: isValidForNoble(question) }
  port.postMessage(answer)
})

function isValidForNoble({ signature, message, publicKey }: SignedMessage): boolean {
  return ed25519.verify(hexToBytes(signature), message, hexToBytes(publicKey), { zip215: true })
}
