import fc from 'fast-check'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import type { PreparedTransaction } from '../../src/node/prepared-transaction.ts'
import {
  identifyTransaction,
  indexOf,
  outputId,
  publicKeyHash,
  transactionOf,
} from '../../src/protocol/ids.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import type { OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import type { Transaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'

/** Random transfers of the outputs of one key. Some of them spend outputs that others have already spent. */

/** One transfer: the numbers of the existing outputs that it spends, and the number of outputs that it creates. */
export interface TransferPlan {
  readonly spends: readonly number[]
  readonly pieces: number
}

/** Plans in the order of their execution. */
export const transferPlans: fc.Arbitrary<readonly TransferPlan[]> = fc.array(
  fc.record({
    spends: fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 3 }),
    pieces: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
)

const publicKey: Hex = `0x${'11'.repeat(32)}`
const signature: Hex = `0x${'22'.repeat(64)}`
const firstTransaction = `0x${'33'.repeat(32)}05000000` as TransactionId

/** An output of the key. */
export function ownOutput(amount: bigint): BasicOutput {
  const address = { type: 0, pubKeyHash: publicKeyHash(publicKey) } as const
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

/** The outputs before the first transfer. */
export const firstOutputs: ReadonlyMap<OutputId, BasicOutput> = new Map(
  [0, 1, 2].map((index) => [outputId(firstTransaction, index), ownOutput(1_000_000n)]),
)

/** The transactions of plans. The amounts of each balance, even if its inputs are already spent. */
export function transfersOf(plans: readonly TransferPlan[]): PreparedTransaction[] {
  const made = [...firstOutputs]
  return plans.map(({ spends, pieces }, nonce) => {
    const picked = new Map(spends.map((pick) => present(made[pick % made.length], 'an output')))
    const prepared = transferOf([...picked], pieces, nonce)
    const { transactionId } = prepared.identity
    for (const [index, output] of prepared.payload.transaction.outputs.entries()) {
      if (output.type === 0) made.push([outputId(transactionId, index), output])
    }
    return prepared
  })
}

/** One transfer; the nonce makes otherwise equal transfers different. */
export function transferOf(
  spent: readonly (readonly [OutputId, BasicOutput])[],
  pieces: number,
  nonce: number,
): PreparedTransaction {
  const total = spent.reduce((sum, [, { amount }]) => sum + amount, 0n)
  const piece = total / BigInt(pieces)
  const outputs = Array.from({ length: pieces }, (_, index) =>
    ownOutput(index === 0 ? total - piece * BigInt(pieces - 1) : piece),
  )
  const transaction: Transaction = {
    networkId: BigInt(nonce),
    creationSlot: 5,
    contextInputs: [],
    inputs: spent.map(([id]) => ({
      type: 0,
      transactionId: transactionOf(id),
      transactionOutputIndex: indexOf(id),
    })),
    allotments: [],
    capabilities: '0x02',
    payload: undefined,
    outputs,
  }
  const unlocks = spent.map((_, index): Unlock => {
    if (index > 0) return { type: 1, reference: 0 }
    return { type: 0, signature: { type: 0, publicKey, signature } }
  })
  return {
    payload: { type: 1, transaction, unlocks },
    identity: identifyTransaction(transaction),
    isSignatureValid: () => true,
  }
}
