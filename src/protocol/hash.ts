import { createBLAKE2b, createSHA256, type IHasher } from 'hash-wasm'

/** The two hash functions of the protocol: BLAKE2b-256 for every identifier, SHA-256 for tries and the log. */

// Made once, while the modules load: the instances are WebAssembly, and afterwards hashing is synchronous.
const blake2b256Instance = await createBLAKE2b(256)
const sha256Instance = await createSHA256()

/** H of the protocol: unkeyed BLAKE2b with a 32-byte digest, over the chunks one after another. */
export function blake2b256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digest(blake2b256Instance, chunks)
}

/** SHA-256 over the chunks one after another (ledger reference 11.2). */
export function sha256(...chunks: readonly Uint8Array[]): Uint8Array {
  return digest(sha256Instance, chunks)
}

/** Runs one instance from start to end, so that no two computations ever mix. */
function digest(hasher: IHasher, chunks: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const chunk of chunks) hasher.update(chunk)
  return hasher.digest('binary')
}
