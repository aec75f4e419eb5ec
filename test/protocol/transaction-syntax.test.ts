import { describe, expect, test } from 'vitest'
import { networkOf } from '../../src/protocol/network.ts'
import type { Report } from '../../src/protocol/problems.ts'
import { encode, type Json, parse } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { checkTransaction, checkUnlocks } from '../../src/protocol/transaction-syntax.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

/** Compares the rules that need no ledger, including those of the node alone, with the verdicts of the node. */

interface SyntaxVector extends Vector {
  readonly params: string
  readonly transaction: Json
  readonly unlocks: Json
  readonly expected: { readonly valid: boolean | 'either' }
}

describe('context-free rules', () => {
  const vectors = loadVectors<SyntaxVector>('semantic-syntax')

  test.each(vectors)('$name', (vector) => {
    const codes = problemsOf(vector)
    const { valid } = vector.expected
    if (valid === true) expect(codes).toEqual([])
    else if (valid === false) expect(codes).not.toEqual([])
  })
})

function problemsOf({ params, transaction, unlocks }: SyntaxVector): readonly string[] {
  const payload = parse(SignedTransaction, { type: 1, transaction, unlocks })
  if (!payload.ok) return [payload.error.code]
  const codes: string[] = []
  const push = (code: string) => codes.push(code)
  const report: Report = { form: push, node: push, sdk: () => {} }
  const bytes = encode(SignedTransaction, payload.value)
  const facts = { network: networkOf(semanticParameters(params)), bytes, from: 'json' } as const
  checkTransaction(payload.value.transaction, facts, report)
  checkUnlocks(payload.value.unlocks, payload.value.transaction.inputs.length, report)
  return codes
}
