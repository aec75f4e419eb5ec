import { ed25519 } from '@noble/curves/ed25519.js'
import { lowerThreadPriority } from '../lib/thread-priority.ts'
import { answerSignatures } from './answer-signatures.ts'

/** The worker thread that checks signatures again by ZIP-215, with noble. */

lowerThreadPriority('tenth')
answerSignatures(({ signature, message, publicKey }) =>
  ed25519.verify(signature, message, publicKey, { zip215: true }),
)
