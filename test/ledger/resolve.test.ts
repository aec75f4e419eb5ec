import { describe, expect, test } from 'vitest'
import {
  inputIds,
  type KnownLedger,
  type KnownOutput,
  resolveReferences,
} from '../../src/ledger/resolve.ts'
import { err, ok } from '../../src/lib/result.ts'
import { creationSlotOf } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { Transaction } from '../../src/protocol/transaction.ts'
import { parsed } from '../support/parsed.ts'

const key = { type: 0, pubKeyHash: `0x${'11'.repeat(32)}` }
const commitment = { type: 0, commitmentId: `0x${'22'.repeat(36)}` }

describe('the resolution of inputs', () => {
  const transaction = parsed(Transaction, {
    networkId: '1',
    creationSlot: 9,
    contextInputs: [commitment],
    inputs: [0, 1].map((transactionOutputIndex) => ({
      type: 0,
      transactionId: `0x${'33'.repeat(32)}07000000`,
      transactionOutputIndex,
    })),
    outputs: [{ type: 0, amount: '1', mana: '0', unlockConditions: [{ type: 0, address: key }] }],
  })
  const [output] = transaction.outputs
  if (output === undefined) throw new Error('no output')
  const ids = inputIds(transaction)
  const known = (spentIn: KnownOutput['spentIn']): KnownOutput => ({ output, spentIn })
  const ledger = (second: KnownOutput | undefined, isCommitmentKnown = () => true) => {
    const outputById = new Map<OutputId, KnownOutput>()
    for (const [index, id] of ids.entries()) {
      const one = index === 1 ? second : known(undefined)
      if (one !== undefined) outputById.set(id, one)
    }
    return {
      outputById,
      isCommitmentKnown,
      creditsAt: () => undefined,
      rewardAt: () => ok(0n),
    }
  }

  test('succeeds if all inputs are unspent', () => {
    const inputs = resolveReferences(transaction, ledger(known(undefined)))
    expect(inputs).toEqual({
      ok: true,
      value: {
        inputs: ids.map((outputId) => ({ outputId, output, creationSlot: 7 })),
        credits: new Map(),
        rewards: new Map(),
      },
    })
    expect(ids.map(creationSlotOf)).toEqual([7, 7])
  })

  const rows = [
    [
      'fails for an input that is spent in a committed slot',
      ledger(known('COMMITTED')),
      'INPUT_ALREADY_SPENT',
    ],
    [
      'fails for an input that is spent since the last commit',
      ledger(known('ACCEPTED')),
      'CONFLICT_REJECTED',
    ],
    ['fails for an input that does not exist', ledger(undefined), 'ORPHANED'],
  ] as const
  test.each(rows)('%s', (_name, state, code) =>
    expect(resolveReferences(transaction, state)).toEqual({
      ok: false,
      error: { code, input: 1, outputId: ids[1] },
    }),
  )

  test('fails for a commitment of another ledger', () =>
    expect(
      resolveReferences(
        transaction,
        ledger(known(undefined), () => false),
      ),
    ).toEqual({
      ok: false,
      error: {
        code: 'COMMITMENT_INPUT_REFERENCE_INVALID',
        commitmentId: commitment.commitmentId,
      },
    }))
})

describe('the resolution of credits and rewards', () => {
  const accountId = `0x${'44'.repeat(32)}`
  const held = { amount: '1', unlockConditions: [{ type: 0, address: key }] }
  const issuer = { type: 6, expirySlot: 9, blockIssuerKeys: [{ type: 0, pubKeyHash: accountId }] }
  const staking = { type: 7, stakedAmount: '1', fixedCost: '0', startEpoch: 0, endEpoch: 9 }
  const account = { ...held, type: 1, mana: '0', accountId, foundryCounter: 0 }
  const delegation = {
    ...held,
    type: 5,
    delegatedAmount: '1',
    delegationId: accountId,
    validatorAddress: { type: 8, accountId },
    startEpoch: 1,
    endEpoch: 0,
  }
  const overflow = () => err({ code: 'REWARD_OVERFLOW' } as const)
  const creditInput = { type: 1, accountId }
  const rewardInput = { type: 2, index: 0 }

  const rows = [
    ['succeeds for an existing credit', account, creditInput, {}, undefined],
    [
      'fails without a credit',
      account,
      creditInput,
      { creditsAt: () => undefined },
      'BIC_INPUT_REFERENCE_INVALID',
    ],
    ['succeeds for a delegation', delegation, rewardInput, {}, undefined],
    [
      'succeeds for a stake',
      { ...account, features: [issuer, staking] },
      rewardInput,
      {},
      undefined,
    ],
    [
      'fails without a stake',
      { ...account, features: [issuer] },
      rewardInput,
      {},
      'REWARD_INPUT_REFERENCE_INVALID',
    ],
    [
      'fails for a missing input',
      delegation,
      { type: 2, index: 1 },
      {},
      'REWARD_INPUT_REFERENCE_INVALID',
    ],
    [
      'fails for a reward of a delegation that is too large',
      delegation,
      rewardInput,
      { rewardAt: overflow },
      'DELEGATION_REWARD_CALCULATION_FAILURE',
    ],
    [
      'fails for a reward of a stake that is too large',
      { ...account, features: [issuer, staking] },
      rewardInput,
      { rewardAt: overflow },
      'STAKING_REWARD_CALCULATION_FAILURE',
    ],
  ] as const
  test.each(rows)('%s', (_name, spent, contextInput, changes, code) => {
    const transaction = parsed(Transaction, {
      networkId: '1',
      creationSlot: 9,
      contextInputs: [commitment, contextInput],
      inputs: [
        { type: 0, transactionId: `0x${'33'.repeat(32)}07000000`, transactionOutputIndex: 0 },
      ],
      outputs: [{ ...held, type: 0, mana: '0' }],
    })
    const output = parsed(Output, spent)
    const ledger: KnownLedger = {
      outputById: new Map(inputIds(transaction).map((id) => [id, { output, spentIn: undefined }])),
      isCommitmentKnown: () => true,
      creditsAt: (_id, slot) => (slot === 0x22222222 ? 5n : undefined),
      rewardAt: () => ok(7n),
      ...changes,
    }
    const resolved = resolveReferences(transaction, ledger)
    expect(resolved.ok ? undefined : resolved.error.code).toBe(code)
    if (!resolved.ok) return
    const { credits, rewards } = resolved.value
    expect([...credits.values(), ...rewards.values()]).toEqual([contextInput.type === 1 ? 5n : 7n])
  })
})
