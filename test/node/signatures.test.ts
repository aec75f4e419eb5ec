import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { packSignatures, type SignedMessage } from '../../src/node/signed-message.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface SignatureVector extends Vector {
  readonly publicKey: Hex
  readonly message: Hex
  readonly signature: Hex
  readonly valid: boolean
}

describe('signatures', () => {
  const checker = openSignatureChecker({ queueLimit: 256 })
  afterAll(() => checker.close())

  test('have the verdicts of ZIP-215 for all vectors', async () => {
    const vectors = loadVectors<SignatureVector>('signatures')
    const answers = await Promise.all(vectors.map((vector) => checker.check([itemOf(vector)])))
    const wrong = vectors.filter((vector, index) => {
      const answer = answers[index]
      return !answer?.ok || answer.value[0] !== vector.valid
    })
    expect(wrong.map((vector) => vector.name)).toEqual([])
    expect(vectors.length).toBe(243)
  })

  const rows = [
    ['none', [], []],
    ['all valid', ['good', 'good'], [true, true]],
    ['one invalid', ['good', 'bad', 'good'], [true, false, true]],
    ['two invalid', ['bad', 'good', 'bad'], [false, true, false]],
  ] as const
  test.each(rows)('of one block keep their order: %s', async (_name, items, value) => {
    const verdicts = await checker.check(
      items.map((item) => (item === 'good' ? signed() : broken(signed()))),
    )
    expect(verdicts).toEqual({ ok: true, value })
  })
})

test('without a build of libsodium OpenSSL checks first, and accepts only valid signatures', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-signatures-'))
  const preload = join(folder, 'preload.cjs')
  writeFileSync(
    preload,
    `const { Module } = require('node:module')
    const load = Module._load
    Module._load = (name, ...rest) => {
      if (name === 'sodium-native') throw new Error('no build for this platform')
      return load(name, ...rest)
    }`,
  )
  const worker = new URL('../../src/node/ed25519-worker.ts', import.meta.url)
  const thread = new Worker(worker, { execArgv: ['--require', preload] })
  const vectors = loadVectors<SignatureVector>('signatures')
  const good = [signed(), signed(), signed()]
  thread.postMessage(packSignatures([...good, ...vectors.map(itemOf)]))
  const [verdicts] = await once(thread, 'message')
  await thread.terminate()
  rmSync(folder, { recursive: true })
  expect([...verdicts.subarray(0, 3)]).toEqual([1, 1, 1])
  const wrong = vectors.filter(({ valid }, index) => verdicts[index + 3] === 1 && !valid)
  expect(wrong).toEqual([])
})

describe('a flood of bad signatures', () => {
  test('ends at the limit with a named error, and never with a wrong verdict', async () => {
    const checker = openSignatureChecker({ queueLimit: 4 })
    const bad = Array.from({ length: 64 }, () => broken(signed()))
    const answers = await Promise.all(bad.map((item) => checker.check([item])))
    const codes = answers.map((answer) => (answer.ok ? String(answer.value) : answer.error.code))
    expect(new Set(codes)).toEqual(new Set(['false', 'SIGNATURE_CHECK_BUSY']))
    await checker.close()
  })

  test('does not delay signatures that need no second check', async () => {
    const checker = openSignatureChecker({ queueLimit: 64 })
    const order: string[] = []
    const flood = Array.from({ length: 64 }, () => broken(signed()))
    const bad = flood.map((item) => checker.check([item]).then(() => order.push('bad')))
    const honest = Array.from({ length: 16 }, () => signed())
    const good = honest.map((item) =>
      checker.check([item]).then((answer) => order.push(String(answer.ok && answer.value[0]))),
    )
    await Promise.all([...bad, ...good])
    // The thread that checks the bad signatures has not started yet when the good ones are done.
    expect(order.slice(0, 16)).toEqual(Array.from({ length: 16 }, () => 'true'))
    await checker.close()
  })

  test('starts no thread after the checker is closed', async () => {
    const checker = openSignatureChecker({ queueLimit: 4 })
    const waiting = checker.check([broken(signed()), broken(signed())])
    const closed = checker.close()
    await expect(waiting).rejects.toThrow('the signature thread')
    await closed
    await expect(checker.check([signed()])).rejects.toThrow('the signature thread is closed')
  })

  test('takes one place in the queue for a whole transaction', async () => {
    const checker = openSignatureChecker({ queueLimit: 1 })
    const items = Array.from({ length: 128 }, () => broken(signed()))
    const verdicts = await checker.check(items)
    expect(verdicts).toEqual({ ok: true, value: items.map(() => false) })
    await checker.close()
  })
})

function itemOf(vector: SignatureVector): SignedMessage {
  const { publicKey, signature } = vector
  return { publicKey, signature, message: hexToBytes(vector.message) }
}

function signed(): SignedMessage {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const message = new TextEncoder().encode('a block')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return {
    publicKey: bytesToHex(key),
    message,
    signature: bytesToHex(sign(null, message, privateKey)),
  }
}

function broken(item: SignedMessage): SignedMessage {
  return { ...item, message: new TextEncoder().encode('another block') }
}
