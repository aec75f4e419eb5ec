import type { KnownLedger, KnownOutput } from '../../src/ledger/resolve.ts'
import { ok } from '../../src/lib/result.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { OutputId } from '../../src/protocol/primitives.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { parsed } from './parsed.ts'
import { loadVectors, type Vector } from './vectors.ts'

/** Transactions with real signatures, the ledger that they are executed on, and the verdict of the node. */

/** A vector of `semantic-tx`. Section 15 of the ledger reference describes its members. */
export interface TransactionVector extends Vector {
  readonly group: string
  readonly params: string
  readonly transaction: unknown
  readonly unlocks: readonly unknown[]
  readonly inputs: readonly { readonly outputId: string; readonly output: unknown }[]
  readonly ledger: {
    readonly bic: Readonly<Record<string, string>>
    readonly spentOutputs?: readonly string[]
    readonly commitmentUnknown?: true
  }
  readonly manaRewards: Readonly<Record<string, string>>
  readonly transactionId: string
  readonly expected: { readonly code: number; readonly name: string; readonly orCode?: number }
  readonly totals?: { readonly manaIn: string; readonly manaOut: string }
}

/** All vectors of `semantic-tx`. */
export function transactionVectors(): readonly TransactionVector[] {
  return loadVectors<TransactionVector>('semantic-tx')
}

/** The transaction of a vector with its unlocks. */
export function payloadOf(vector: TransactionVector): SignedTransaction {
  return parsed(SignedTransaction, { ...vector, type: 1 })
}

/** The ledger of a vector. */
export function ledgerOf({ inputs, ledger, manaRewards }: TransactionVector): KnownLedger {
  const spent = new Set(ledger.spentOutputs)
  const outputById = new Map<OutputId, KnownOutput>()
  for (const { outputId, output } of inputs) {
    outputById.set(parsed(OutputId, outputId), {
      output: parsed(Output, output),
      spentIn: spent.has(outputId) ? 'COMMITTED' : undefined,
    })
  }
  return {
    outputById,
    isCommitmentKnown: () => ledger.commitmentUnknown !== true,
    creditsAt: (accountId) => {
      const credits = ledger.bic[accountId]
      return credits === undefined ? undefined : BigInt(credits)
    },
    rewardAt: ({ outputId }) => ok(BigInt(manaRewards[outputId] ?? 0)),
  }
}
