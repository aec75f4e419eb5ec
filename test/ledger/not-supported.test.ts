import { describe, expect, test } from 'vitest'
import { unsupportedPart } from '../../src/ledger/not-supported.ts'
import { Transaction } from '../../src/protocol/transaction.ts'
import { parsed } from '../support/parsed.ts'

const hash = `0x${'11'.repeat(32)}`
const key = { type: 0, pubKeyHash: hash }

function held(address: object) {
  return { type: 0, amount: '1', mana: '0', unlockConditions: [{ type: 0, address }] }
}

const account = { ...held(key), type: 1, accountId: hash, foundryCounter: 0 }
const delegation = {
  ...held(key),
  type: 5,
  delegatedAmount: '1',
  delegationId: hash,
  validatorAddress: { type: 8, accountId: hash },
  startEpoch: 1,
  endEpoch: 0,
}
const commitmentInput = { type: 0, commitmentId: `0x${'22'.repeat(36)}` }

describe('what a transaction alone shows to be beyond the rules', () => {
  const rows = [
    ['basic outputs and a commitment', { contextInputs: [commitmentInput] }, undefined],
    ['sent to an account', { outputs: [held({ type: 8, accountId: hash })] }, undefined],
    ['an account output', { outputs: [held(key), account] }, 'transaction.outputs.1'],
    ['a delegation output', { outputs: [delegation] }, 'transaction.outputs.0'],
    [
      'an account to be',
      { outputs: [held({ type: 32, pubKeyHash: hash })] },
      'transaction.outputs.0.unlockConditions.0.address',
    ],
    [
      'a block issuance credit input',
      { contextInputs: [commitmentInput, { type: 1, accountId: hash }] },
      'transaction.contextInputs.1',
    ],
    ['a reward input', { contextInputs: [{ type: 2, index: 0 }] }, 'transaction.contextInputs.0'],
  ] as const
  test.each(rows)('%s', (_name, parts, path) => {
    const transaction = parsed(Transaction, {
      networkId: '1',
      creationSlot: 9,
      inputs: [{ type: 0, transactionId: `0x${'33'.repeat(36)}`, transactionOutputIndex: 0 }],
      outputs: [held(key)],
      ...parts,
    })
    const expected = path === undefined ? undefined : { code: 'NOT_SUPPORTED_YET', path }
    expect(unsupportedPart(transaction)).toEqual(expected)
  })
})
