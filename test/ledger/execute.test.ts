import { afterAll, describe, expect, test } from 'vitest'
import { execute } from '../../src/ledger/execute.ts'
import { failureReasonName } from '../../src/ledger/failure-reasons.ts'
import { resolveReferences } from '../../src/ledger/resolve.ts'
import { failureReasonOf } from '../../src/ledger/transaction-error.ts'
import { prepareTransaction } from '../../src/node/prepared-transaction.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import {
  ledgerOf,
  payloadOf,
  type TransactionVector,
  transactionVectors,
} from '../support/semantic-transactions.ts'

const vectors = transactionVectors()
const checker = openSignatureChecker({ queueLimit: 256 })
afterAll(() => checker.close())

describe.each([...new Set(vectors.map(({ group }) => group))])('%s', (group) => {
  test.each(vectors.filter((vector) => vector.group === group))('$name', async (vector) => {
    const { code, name, orCode = code } = vector.expected
    const diff = await judge(vector)
    const reason = diff.ok ? 0 : failureReasonOf(diff.error)
    expect([code, orCode]).toContain(reason)
    if (reason === code) expect(failureReasonName(reason)).toBe(name)
    if (diff.ok) {
      const { inputs, outputs } = diff.value.mana
      expect(vector.totals).toEqual({ manaIn: String(inputs), manaOut: String(outputs) })
    }
  })
})

test('the number of vectors is that of the reference', () => {
  expect(vectors).toHaveLength(787)
})

async function judge(vector: TransactionVector): Promise<ReturnType<typeof execute>> {
  const payload = payloadOf(vector)
  const prepared = await prepareTransaction(checker, payload)
  if (!prepared.ok) throw new Error(prepared.error.code)
  const { transactionId } = prepared.value.identity
  expect(transactionId).toBe(vector.transactionId)
  const { transaction, unlocks } = payload
  const resolved = resolveReferences(transaction, ledgerOf(vector))
  if (!resolved.ok) return resolved
  return execute({
    ...resolved.value,
    parameters: semanticParameters(vector.params),
    transaction,
    transactionId,
    unlocks,
    isSignatureValid: prepared.value.isSignatureValid,
  })
}
