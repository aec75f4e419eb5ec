import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { execute } from '../../src/ledger/execute.ts'
import { outputId, publicKeyHash } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { PublicKey, SignatureBytes, TransactionId } from '../../src/protocol/primitives.ts'
import { Transaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'

/** The tokens of an output; token 0 means no native tokens. */
interface Holding {
  readonly amount: bigint
  readonly token: number
  readonly tokens: bigint
}

const publicKey = parsed(PublicKey, `0x${'11'.repeat(32)}`)
const signature = parsed(SignatureBytes, `0x${'22'.repeat(64)}`)
const address = { type: 0, pubKeyHash: publicKeyHash(publicKey) }
const spentId = parsed(TransactionId, `0x${'33'.repeat(32)}05000000`)

const holding = fc.record({
  amount: fc.bigInt({ min: 1n, max: 9n }),
  token: fc.integer({ min: 0, max: 2 }),
  tokens: fc.bigInt({ min: 1n, max: 4n }),
})
const holdings = fc.array(holding, { minLength: 1, maxLength: 3 })

describe('base tokens and native tokens', () => {
  test('are conserved, or the transaction fails with the first violated rule', () => {
    fc.assert(
      fc.property(holdings, holdings, fc.boolean(), (inputs, outputs, mayBurn) => {
        expect(codeOf(spend(inputs, outputs, mayBurn))).toBe(verdict(inputs, outputs, mayBurn))
      }),
      {
        examples: [
          [sample, sample, false],
          [sample, lessTokens, true],
          [sample, lessTokens, false],
        ],
      },
    )
  })

  test('cannot sum to more than 256 bits', () => {
    const maximum = { amount: 1n, token: 1, tokens: 2n ** 256n - 1n }
    expect(codeOf(spend([maximum, maximum], [{ ...maximum, amount: 2n }], true))).toBe(
      'SEMANTIC_VALIDATION_FAILED',
    )
  })
})

const sample: Holding[] = [
  { amount: 3n, token: 1, tokens: 3n },
  { amount: 2n, token: 0, tokens: 1n },
]
const lessTokens: Holding[] = [{ amount: 5n, token: 1, tokens: 1n }]

/** Applies the rules by a naive implementation. */
function verdict(inputs: readonly Holding[], outputs: readonly Holding[], mayBurn: boolean) {
  const sum = (list: readonly Holding[]) => list.reduce((all, one) => all + one.amount, 0n)
  if (sum(inputs) !== sum(outputs)) return 'INPUT_OUTPUT_BASE_TOKEN_MISMATCH'
  for (const token of [1, 2]) {
    const held = (list: readonly Holding[]) =>
      list.reduce((all, one) => (one.token === token ? all + one.tokens : all), 0n)
    const more = held(outputs) > held(inputs)
    if (more || (held(outputs) < held(inputs) && !mayBurn)) return 'NATIVE_TOKEN_SUM_UNBALANCED'
  }
  return 'NONE'
}

function codeOf(diff: ReturnType<typeof execute>): string {
  return diff.ok ? 'NONE' : diff.error.code
}

/** Executes a transaction. One key owns all inputs and signs once. */
function spend(inputs: readonly Holding[], outputs: readonly Holding[], mayBurn: boolean) {
  const transaction = parsed(Transaction, {
    networkId: '1',
    creationSlot: 5,
    capabilities: mayBurn ? '0x03' : '0x02',
    inputs: inputs.map((_input, transactionOutputIndex) => ({
      type: 0,
      transactionId: spentId,
      transactionOutputIndex,
    })),
    outputs: outputs.map(basicOutput),
  })
  const unlocks = inputs.map((_input, index): Unlock => {
    if (index > 0) return { type: 1, reference: 0 }
    return { type: 0, signature: { type: 0, publicKey, signature } }
  })
  return execute({
    parameters: semanticParameters('standard'),
    transaction,
    transactionId: spentId,
    unlocks,
    inputs: inputs.map((input, index) => ({
      outputId: outputId(spentId, index),
      output: parsed(Output, basicOutput(input)),
      creationSlot: 5,
    })),
    credits: new Map(),
    rewards: new Map(),
    isSignatureValid: () => true,
  })
}

function basicOutput({ amount, token, tokens }: Holding) {
  const id = `0x${`0${token}`.repeat(38)}`
  const native = { type: 5, id, amount: `0x${tokens.toString(16)}` }
  return {
    type: 0,
    amount: amount.toString(),
    mana: '0',
    unlockConditions: [{ type: 0, address }],
    features: token === 0 ? [] : [native],
  }
}
