import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { identifyTransaction } from '../../src/protocol/ids.ts'
import { locate } from '../../src/protocol/schema/offset.ts'
import { decode, encode, parse, print } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { parsed } from '../support/parsed.ts'
import type { InspectedVector } from '../support/vector-lines.ts'
import { loadVectors } from '../support/vectors.ts'

const hash = `0x${'ab'.repeat(32)}`
const commitment = (type: number) => ({ type, commitmentId: `${hash}07000000` })
const credit = (type: number) => ({ type, accountId: hash })
const reward = (type: number) => ({ type, index: 0 })
const reference = (type: number) => ({ type, reference: 0 })
const multi = (...types: number[]) => ({ type: 5, unlocks: types.map(reference) })

describe('JSON in one numbering', () => {
  const rows = [
    [
      'released context inputs and unlocks',
      [commitment(0), credit(1), reward(2)],
      [reference(4)],
      undefined,
    ],
    ['released commitment and anchor unlock', [commitment(0)], [reference(3)], undefined],
    [
      'documented context inputs and unlocks',
      [commitment(1), credit(2), reward(3)],
      [reference(3)],
      'documented',
    ],
    ['a documented commitment', [commitment(1)], [], 'documented'],
    ['a documented credit', [credit(2)], [], 'documented'],
    ['a documented reward', [reward(3)], [], 'documented'],
    ['documented commitment and multi unlock', [commitment(1)], [multi(3, 1)], 'documented'],
    ['no context inputs, NFT unlock 4', [], [reference(4)], undefined],
    ['no context inputs, NFT unlock 4 in a multi unlock', [], [multi(1, 4)], undefined],
    ['neither context inputs nor unlocks', [], [], undefined],
    ['no context inputs, unlock 3', [], [reference(3)], undefined],
  ] as const

  test.each(rows)('%s', (_name, contextInputs, unlocks, numbering) => {
    const json = payloadWith(contextInputs, unlocks)
    const payload = parsed(SignedTransaction, json)
    expect(payload.transaction.numbering).toBe(numbering)
    expect(Object(print(SignedTransaction, payload)).transaction.contextInputs ?? []).toEqual(
      contextInputs,
    )
    expect(Object(print(SignedTransaction, payload)).unlocks).toEqual(json.unlocks)
    expect(decode(SignedTransaction, encode(SignedTransaction, payload))).toEqual({
      ok: true,
      value: payload,
    })
  })

  test('codes in memory are the released ones', () => {
    const json = payloadWith([commitment(1), credit(2), reward(3)], [reference(3), multi(3, 2)])
    const { transaction, unlocks } = parsed(SignedTransaction, json)
    expect(transaction.contextInputs.map(({ type }) => type)).toEqual([0, 1, 2])
    expect(unlocks.slice(1)).toEqual([reference(4), multi(4, 2)])
  })
})

describe('JSON with mixed numberings is rejected at', () => {
  const rows = [
    ['transaction.contextInputs.1', [commitment(0), credit(2)], []],
    ['transaction.contextInputs.1', [commitment(1), credit(1)], []],
    ['transaction.contextInputs.2', [commitment(0), credit(1), reward(3)], []],
    ['unlocks.1', [commitment(1)], [reference(4)]],
    ['unlocks.1.unlocks.1', [commitment(1)], [multi(3, 4)]],
  ] as const

  test.each(rows)('%s', (path, contextInputs, unlocks) => {
    const answer = parse(SignedTransaction, payloadWith(contextInputs, unlocks))
    expect(answer).toEqual({ ok: false, error: { code: 'NUMBERING_MIXED', path } })
  })

  test('a code whose type has other members is unknown in both numberings', () => {
    const error = { code: 'TYPE_CONTEXT_INPUT', path: 'transaction.contextInputs.0' }
    expect(parse(SignedTransaction, payloadWith([commitment(3)], []))).toEqual({ ok: false, error })
  })
})

describe('the bytes of the two numberings', () => {
  const documented = payloadWith([commitment(1), credit(2), reward(3)], [reference(3)])
  const released = payloadWith([commitment(0), credit(1), reward(2)], [reference(4)])
  const paths = [0, 1, 2].map((index) => `transaction.contextInputs.${index}`).concat('unlocks.1')

  test('differ only in the codes, and so do the ids', () => {
    const [documentedValue, releasedValue] = [documented, released].map((json) =>
      parsed(SignedTransaction, json),
    )
    const bytes = encode(SignedTransaction, present(releasedValue, 'released'))
    const codes = [1, 2, 3, 3]
    for (const [i, path] of paths.entries()) {
      bytes[locate(SignedTransaction, bytes, path)] = present(codes[i], 'code')
    }
    const read = decode(SignedTransaction, bytes)
    expect(read).toEqual({ ok: true, value: documentedValue })
    expect(encode(SignedTransaction, present(documentedValue, 'documented'))).toEqual(bytes)
    const [own, other] = [documentedValue, releasedValue].map((one) =>
      identifyTransaction(present(one, 'one').transaction),
    )
    expect(own?.transactionId).not.toBe(other?.transactionId)
    expect(own?.outputCommitment).toBe(other?.outputCommitment)
    expect(own?.signingHash).not.toEqual(other?.signingHash)
  })

  test('are rejected at the second numbering if they mix both', () => {
    const bytes = encode(SignedTransaction, parsed(SignedTransaction, documented))
    const offset = locate(SignedTransaction, bytes, 'unlocks.1')
    bytes[offset] = 4
    const error = { code: 'NUMBERING_MIXED', path: 'unlocks.1', offset }
    expect(decode(SignedTransaction, bytes)).toEqual({ ok: false, error })
  })

  test('of documented context inputs with a later fault report that fault', () => {
    const bytes = encode(SignedTransaction, parsed(SignedTransaction, documented))
    const path = 'transaction.outputs.0.unlockConditions.0'
    const offset = locate(SignedTransaction, bytes, path)
    bytes[offset] = 99
    const error = { code: 'TYPE_UNLOCK_CONDITION', path, offset }
    expect(decode(SignedTransaction, bytes)).toEqual({ ok: false, error })
  })
})

interface PayloadJson {
  readonly unlocks: readonly unknown[]
}

/** Returns a signed transaction with one signature and further unlocks. */
function payloadWith(contextInputs: readonly unknown[], unlocks: readonly unknown[]): PayloadJson {
  const vector = loadVectors<InspectedVector>('transactions').find(
    ({ name }) => name === 'block/transaction/minimal',
  )
  const { payload } = Object(vector?.json).body
  const transaction = { ...payload.transaction, contextInputs }
  return { ...payload, transaction, unlocks: [payload.unlocks[0], ...unlocks] }
}
