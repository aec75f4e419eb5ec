import { blake2b } from '@noble/hashes/blake2.js'
import { sha256 as sha2 } from '@noble/hashes/sha2.js'
import type { Hash } from '@noble/hashes/utils.js'
import { createBLAKE2b, createSHA256, type IHasher } from 'hash-wasm'

/**
 * The two hash functions of the protocol: BLAKE2b-256 for every identifier, SHA-256 for tries and the log. WebAssembly computes them. Its
 * instances are created asynchronously, and JavaScript computes until then, for some tens of milliseconds. A top-level `await` would be
 * simpler, but threads load this module (lib/thread.ts).
 */

type Digest = (chunks: readonly Uint8Array[]) => Uint8Array

let digestBlake2b = inJavaScript(() => blake2b.create({ dkLen: 32 }))
let digestSha256 = inJavaScript(() => sha2.create())

void Promise.all([createBLAKE2b(256), createSHA256()]).then(
  ([blake2b256Instance, sha256Instance]) => {
    digestBlake2b = inWebAssembly(blake2b256Instance)
    digestSha256 = inWebAssembly(sha256Instance)
  },
)

/** H of the protocol: unkeyed BLAKE2b with a 32-byte digest, over the concatenated chunks. */
export function blake2b256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digestBlake2b(chunks)
}

/** SHA-256 over the concatenated chunks (ledger reference 11.2). */
export function sha256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digestSha256(chunks)
}

function inJavaScript(create: () => Hash<unknown>): Digest {
  return (chunks) => {
    const hasher = create()
    for (const chunk of chunks) hasher.update(chunk)
    return hasher.digest()
  }
}

/** Uses the one instance from start to end without a pause, so that computations cannot interleave. */
function inWebAssembly(hasher: IHasher): Digest {
  return (chunks) => {
    hasher.init()
    for (const chunk of chunks) hasher.update(chunk)
    return hasher.digest('binary')
  }
}
