import { describe, expect, test } from 'vitest'
import { Block } from '../../src/protocol/block.ts'
import { OutputIdProof } from '../../src/protocol/commitment.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { locate } from '../../src/protocol/schema/offset.ts'
import { decode, encode, parse, print } from '../../src/protocol/schema/schema.ts'
import { Payload } from '../../src/protocol/transaction.ts'
import { parsed } from '../support/parsed.ts'
import type { FormVector } from '../support/vector-forms.ts'
import { parameterSets } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

/** Tests that counts and lengths far beyond the input are rejected at their offset, before anything is read. */

const rows = [
  ['body.strongParents', 1, 'PARENTS_STRONG_COUNT'],
  ['body.shallowLikeParents', 1, 'PARENTS_SHALLOW_LIKE_COUNT'],
  ['body.payload', 4, 'BIN_EOF'],
  ['body.payload.transaction.contextInputs', 2, 'TX_CONTEXT_INPUTS_COUNT'],
  ['body.payload.transaction.inputs', 2, 'TX_INPUTS_COUNT'],
  ['body.payload.transaction.allotments', 2, 'TX_ALLOTMENTS_COUNT'],
  ['body.payload.transaction.capabilities', 1, 'TX_CAPABILITIES_LENGTH'],
  ['body.payload.transaction.payload', 4, 'BIN_EOF'],
  ['body.payload.transaction.outputs', 2, 'TX_OUTPUTS_COUNT'],
  ['body.payload.unlocks', 2, 'UNLOCKS_COUNT'],
] as const

describe('a count or length of all ones is rejected', () => {
  test.each(rows)('at %s', (path, width, code) => {
    const bytes = encode(Block, vectorNamed('transactions', 'block/transaction/all-output-kinds'))
    const offset = locate(Block, bytes, path)
    bytes.fill(0xff, offset, offset + width)
    expect(decode(Block, bytes)).toEqual({ ok: false, error: { code, path, offset } })
  })

  test('at the data of a tagged data payload', () => {
    const bytes = encode(Block, vectorNamed('blocks', 'block/tagged-data/tag-1-data-0'))
    const offset = locate(Block, bytes, 'body.payload.data')
    bytes.fill(0xff, offset, offset + 4)
    const error = { code: 'TAGGED_DATA_LENGTH', path: 'body.payload.data', offset }
    expect(decode(Block, bytes)).toEqual({ ok: false, error })
  })

  test('at the decay factors of protocol parameters', () => {
    const bytes = encode(
      ProtocolParameters,
      parsed(ProtocolParameters, parameterSets.get('standard')),
    )
    const path = 'manaParameters.decayFactors'
    const offset = locate(ProtocolParameters, bytes, path)
    bytes.fill(0xff, offset, offset + 2)
    const error = { code: 'BIN_EOF', path, offset }
    expect(decode(ProtocolParameters, bytes)).toEqual({ ok: false, error })
  })
})

describe('unlimited nesting is rejected', () => {
  const depth = 100_000

  test('in a proof as bytes', () => {
    const header = new Uint8Array(38)
    const error = { code: 'PROOF_DEPTH', offset: header.length + 16 }
    const bytes = Buffer.concat([header, new Uint8Array(depth)])
    expect(decode(OutputIdProof, bytes)).toMatchObject({ ok: false, error })
  })

  test('in a proof as JSON', () => {
    const outputCommitmentProof = nested(depth, (inner) => ({ type: 0, l: inner, r: inner }))
    const proof = { slot: 1, outputIndex: 0, transactionCommitment: `0x${'00'.repeat(32)}` }
    const answer = parse(OutputIdProof, { ...proof, outputCommitmentProof })
    expect(answer).toMatchObject({ ok: false, error: { code: 'PROOF_DEPTH' } })
  })

  test('in multi unlocks as JSON, in a transaction of either numbering', () => {
    const { body } = vectorNamed('transactions', 'block/transaction/all-output-kinds')
    const payload = Object(body.type === 0 && body.payload && print(Payload, body.payload))
    const unlocks = [nested(depth, (inner) => ({ type: 5, unlocks: [inner, inner] }))]
    const reward = { type: 3, index: 0 }
    for (const contextInputs of [[], [reward]]) {
      const transaction = { ...payload.transaction, contextInputs }
      const answer = parse(Payload, { ...payload, transaction, unlocks })
      expect(answer).toMatchObject({ ok: false, error: { code: 'UNLOCK_MULTI_NESTED' } })
    }
  })
})

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = {}
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

function vectorNamed(file: string, name: string): Block {
  const vector = loadVectors<FormVector>(file).find((one) => one.name === name)
  return parsed(Block, vector?.json)
}
