import { describe, expect, test } from 'vitest'
import { execute } from '../../src/ledger/execute.ts'
import { failureReasonOf } from '../../src/ledger/transaction-error.ts'
import { outputId, publicKeyHash } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { PublicKey, SignatureBytes, TransactionId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { minimumAmount } from '../../src/protocol/score.ts'
import { Transaction } from '../../src/protocol/transaction.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'

/** Tests rules for which the node has another verdict than expected: each case has the failure reason of the node. */

const parameters = semanticParameters('standard')
const publicKey = parsed(PublicKey, `0x${'11'.repeat(32)}`)
const signature = parsed(SignatureBytes, `0x${'22'.repeat(64)}`)
const ownAddress = { type: 0, pubKeyHash: publicKeyHash(publicKey) }
const otherAddress = { type: 0, pubKeyHash: `0x${'44'.repeat(32)}` }
const spentId = parsed(TransactionId, `0x${'33'.repeat(32)}05000000`)

const minimum = minimumAmount(parameters.storageScoreParameters, parsed(Output, basic(1n)))

describe('the age of an input', () => {
  const rows = [
    ['ok - of the minimum amount, as old as the transaction', minimum, 5, 0],
    ['fail - of the minimum amount, younger', minimum, 4, 17],
    ['fail - above the minimum amount, younger', minimum + 1n, 4, 17],
    // Its mana is not computed, so a later rule detects the age.
    ['fail - below the minimum amount, younger', minimum - 1n, 4, 4],
  ] as const
  test.each(rows)('%s', (_name, amount, creationSlot, code) => {
    expect(verdict({ creationSlot, inputs: [basic(amount)], outputs: [basic(amount)] })).toBe(code)
  })
})

describe('a storage return of 0', () => {
  const owed = basic(9n, { type: 1, returnAddress: otherAddress, amount: '0' })
  const rows = [
    ['fail - nothing returns it', [basic(9n)], 45],
    ['ok - an output returns more', [basic(8n), basic(1n, { type: 0, address: otherAddress })], 0],
    [
      'fail - the output that returns it has another condition',
      [basic(8n), { ...basic(1n, { type: 0, address: otherAddress }, { type: 2, slot: 1 }) }],
      45,
    ],
  ] as const
  test.each(rows)('%s', (_name, outputs, code) => {
    expect(verdict({ inputs: [owed], outputs })).toBe(code)
  })
})

describe('metadata that must stay', () => {
  // The order by key differs from the order by serialized entry.
  const entries = { b: '0x01', aa: '0x02' }
  const otherEntries = { b: '0x01', aa: '0x03' }
  const rows = [
    ['ok - immutable, in the other order', nft(entries), 'REORDERED', 0],
    ['fail - immutable, with another value', nft(entries), nft(otherEntries), 47],
  ] as const
  test.each(rows)('%s', (_name, before, next, code) => {
    const after = next === 'REORDERED' ? before : next
    const reordered = next === 'REORDERED'
    expect(verdict({ inputs: [before], outputs: [after], reordered })).toBe(code)
  })
})

interface Case {
  readonly creationSlot?: number
  readonly inputs: readonly object[]
  readonly outputs: readonly object[]
  /** True if the metadata of the outputs is in the order of the node. */
  readonly reordered?: boolean
}

/** Returns the published failure reason, or 0. One key owns all inputs and signs once. */
function verdict({ creationSlot = 5, inputs, outputs, reordered = false }: Case): number {
  const transaction = parsed(Transaction, {
    networkId: '1',
    creationSlot,
    capabilities: '0x02',
    inputs: inputs.map((_input, transactionOutputIndex) => ({
      type: 0,
      transactionId: spentId,
      transactionOutputIndex,
    })),
    outputs,
  })
  const diff = execute({
    parameters,
    transaction: reordered
      ? { ...transaction, outputs: transaction.outputs.map(withReversedEntries) }
      : transaction,
    transactionId: spentId,
    unlocks: [{ type: 0, signature: { type: 0, publicKey, signature } }],
    inputs: inputs.map((input, index) => ({
      outputId: outputId(spentId, index),
      output: parsed(Output, input),
      creationSlot: 5,
    })),
    credits: new Map(),
    rewards: new Map(),
    isSignatureValid: () => true,
  })
  return diff.ok ? 0 : failureReasonOf(diff.error)
}

/** Reverses the metadata entries, which changes the bytes. */
function withReversedEntries(output: Output): Output {
  if (output.type !== 4) return output
  const turned = {
    ...output,
    immutableFeatures: output.immutableFeatures.map((feature) =>
      feature.type === 2 ? { ...feature, entries: feature.entries.toReversed() } : feature,
    ),
  }
  expect(encode(Output, turned)).not.toEqual(encode(Output, output))
  return turned
}

interface Condition {
  readonly type: number
  readonly [member: string]: unknown
}

function basic(amount: bigint, ...conditions: readonly Condition[]) {
  const isOwned = conditions.some(({ type }) => type === 0)
  const unlockConditions = [...(isOwned ? [] : [{ type: 0, address: ownAddress }]), ...conditions]
  return { type: 0, amount: amount.toString(), mana: '0', unlockConditions }
}

function nft(entries: object) {
  return {
    type: 4,
    amount: '9',
    mana: '0',
    nftId: `0x${'55'.repeat(32)}`,
    unlockConditions: [{ type: 0, address: ownAddress }],
    immutableFeatures: [{ type: 2, entries }],
  }
}
