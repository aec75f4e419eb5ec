import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { blake2b } from '@noble/hashes/blake2.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { blake2b256, sha256 } from '../../src/protocol/hash.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

describe('hash functions', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 5 })

  test('BLAKE2b-256 agrees with another implementation', () => {
    fc.assert(
      fc.property(chunks, (parts) => {
        const reference = blake2b.create({ dkLen: 32 })
        for (const part of parts) reference.update(part)
        expect(bytesToHex(blake2b256(...parts))).toBe(bytesToHex(reference.digest()))
      }),
    )
  })

  test('SHA-256 agrees with another implementation', () => {
    fc.assert(
      fc.property(chunks, (parts) => {
        const reference = createHash('sha256')
        for (const part of parts) reference.update(part)
        expect(bytesToHex(sha256(...parts))).toBe(bytesToHex(reference.digest()))
      }),
    )
  })

  test('both agree before WebAssembly is ready, in the turn that loads the module', async () => {
    const contents = [[], ['', '61'], ['00'.repeat(300)]]
    const module = new URL('../../src/protocol/hash.ts', import.meta.url)
    const worker = new Worker(
      `import { parentPort, workerData } from 'node:worker_threads'
      import { blake2b256, sha256 } from ${JSON.stringify(module.href)}
      const digests = workerData.map((hexes) => {
        const chunks = hexes.map((hex) => Buffer.from(hex, 'hex'))
        return [blake2b256(...chunks), sha256(...chunks)].map((digest) => Buffer.from(digest).toString('hex'))
      })
      parentPort.postMessage(digests)`,
      { eval: true, execArgv: ['--input-type=module'], workerData: contents },
    )
    const [digests] = await once(worker, 'message')
    await worker.terminate()
    expect(digests).toEqual(
      contents.map((hexes) => {
        const bytes = Buffer.from(hexes.join(''), 'hex')
        return [blake2b256(bytes), sha256(bytes)].map((digest) =>
          Buffer.from(digest).toString('hex'),
        )
      }),
    )
  })

  test('a digest is not overwritten by the next one', () => {
    const first = blake2b256(Uint8Array.of(1))
    const text = bytesToHex(first)
    blake2b256(Uint8Array.of(2))
    expect(bytesToHex(first)).toBe(text)
  })
})

interface HashVector extends Vector {
  readonly publicKey: Hex
  readonly hash: Hex
}

describe('public key hashes', () => {
  const vectors = loadVectors<HashVector>('identifiers').filter(
    (vector) => vector.kind === 'public-key-hash',
  )
  test.each(vectors)('$name', ({ publicKey, hash }) =>
    expect(bytesToHex(blake2b256(hexToBytes(publicKey)))).toBe(hash),
  )
})
