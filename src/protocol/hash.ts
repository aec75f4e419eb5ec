import { createBLAKE2b, createSHA256, type IHasher } from 'hash-wasm'

/** The two hash functions of the protocol: BLAKE2b-256 for every identifier, SHA-256 for tries and the log. */

// Created once while the module loads: creating a WebAssembly instance is asynchronous, hashing with it is synchronous.
const blake2b256Instance = await createBLAKE2b(256)
const sha256Instance = await createSHA256()

/** H of the protocol: unkeyed BLAKE2b with a 32-byte digest, over the concatenated chunks. */
export function blake2b256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digest(blake2b256Instance, chunks)
}

/** SHA-256 over the concatenated chunks (ledger reference 11.2). */
export function sha256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digest(sha256Instance, chunks)
}

/** Uses an instance from start to end without a pause, so that computations cannot interleave. */
function digest(hasher: IHasher, chunks: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const chunk of chunks) hasher.update(chunk)
  return hasher.digest('binary')
}
