import { type Examination, examine } from '../ledger/execute.ts'
import { failureReasonName } from '../ledger/failure-reasons.ts'
import { type KnownLedger, resolveReferences } from '../ledger/resolve.ts'
import { failureReasonOf, type TransactionError } from '../ledger/transaction-error.ts'
import { present } from '../lib/assert.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { prepareTransaction } from '../node/prepared-transaction.ts'
import { maxBlockSize } from '../protocol/block.ts'
import type { Network } from '../protocol/network.ts'
import { Output } from '../protocol/outputs.ts'
import {
  AccountId,
  maxPerTransaction,
  OutputId,
  type TransactionId,
  u64,
} from '../protocol/primitives.ts'
import { isOfNode } from '../protocol/problems.ts'
import { list, struct } from '../protocol/schema/declare.ts'
import { anyJson, flag, int64, omitted, record } from '../protocol/schema/response-scalars.ts'
import { encode, type Json, parse } from '../protocol/schema/schema.ts'
import { transactionProblems } from '../protocol/syntax.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import {
  readNetwork,
  type Verdict,
  type VerifyDeps,
  type VerifyError,
  type VerifyInput,
} from './verify-input.ts'

/** Verifies a transaction against the ledger that the input describes (ledger reference 3). */

const SpentOutput = struct('SpentOutput', { outputId: OutputId, output: Output })

const TransactionQuestion = struct('TransactionQuestion', {
  transaction: anyJson,
  unlocks: anyJson,
  inputs: list('u32', SpentOutput, { max: maxPerTransaction, size: 'TX_INPUTS_COUNT' }),
  ledger: omitted(
    struct('Ledger', {
      bic: omitted(record(AccountId, int64), new Map()),
      spentOutputs: list('u32', OutputId, {
        max: maxPerTransaction,
        size: 'LIST_COUNT',
        omitEmpty: true,
      }),
      commitmentUnknown: omitted(flag, false),
    }),
    { bic: new Map(), spentOutputs: [], commitmentUnknown: false },
  ),
  manaRewards: omitted(record(OutputId, u64), new Map()),
})

type TransactionQuestion = ReturnType<typeof TransactionQuestion.parse>

/** A parsed transaction with the result of its execution. */
export interface JudgedTransaction {
  readonly network: Network
  readonly payload: SignedTransaction
  readonly transactionId: TransactionId
  /** `undefined` if an output or another reference of the transaction is missing. */
  readonly examination: Examination | undefined
  readonly error: TransactionError | undefined
}

/** Verifies a transaction and returns the verdict in the form of the test vectors. */
export async function verifyTransaction(deps: VerifyDeps, input: VerifyInput): Promise<Verdict> {
  const judged = await judgeTransaction(deps, input)
  return judged.ok ? ok(printVerdict(judged.value)) : judged
}

/** Returns whether a transaction is well formed by the rules of the node. */
export async function verifySyntax(_deps: VerifyDeps, input: VerifyInput): Promise<Verdict> {
  const network = readNetwork(input)
  if (!network.ok) return network
  return ok({ valid: readPayload(input, network.value).ok })
}

/** Parses and executes a transaction; refuses a malformed transaction. */
export async function judgeTransaction(
  { checker }: VerifyDeps,
  input: VerifyInput,
): Promise<Result<JudgedTransaction, VerifyError>> {
  const network = readNetwork(input)
  if (!network.ok) return network
  const given = parse(TransactionQuestion, input)
  if (!given.ok) return given
  const payload = readPayload(input, network.value)
  if (!payload.ok) return payload
  const prepared = await prepareTransaction(checker, payload.value)
  if (!prepared.ok) return prepared
  const { transaction, unlocks } = payload.value
  const { transactionId } = prepared.value.identity
  const judged = { network: network.value, payload: payload.value, transactionId }
  const resolved = resolveReferences(transaction, ledgerOf(given.value))
  if (!resolved.ok) return ok({ ...judged, examination: undefined, error: resolved.error })
  const examination = examine({
    ...resolved.value,
    parameters: network.value.parameters,
    transaction,
    transactionId,
    unlocks,
    isSignatureValid: prepared.value.isSignatureValid,
  })
  const { verdict } = examination
  return ok({ ...judged, examination, error: verdict.ok ? undefined : verdict.error })
}

function readPayload(
  { transaction, unlocks }: VerifyInput,
  network: Network,
): Result<SignedTransaction, VerifyError> {
  const payload = parse(SignedTransaction, { type: SignedTransaction.code, transaction, unlocks })
  if (!payload.ok) return payload
  // No block can hold the transaction, so no further rules are applied.
  if (encode(SignedTransaction, payload.value).length > maxBlockSize) {
    return err({ code: 'BLOCK_SIZE', path: '' })
  }
  const problem = transactionProblems(payload.value, network).find(isOfNode)
  return problem === undefined ? payload : err({ code: problem.code, path: problem.path })
}

function ledgerOf({ inputs, ledger, manaRewards }: TransactionQuestion): KnownLedger {
  const spent = new Set(ledger.spentOutputs)
  return {
    outputById: new Map(
      inputs.map(({ outputId, output }) => [
        outputId,
        { output, spentIn: spent.has(outputId) ? 'COMMITTED' : undefined },
      ]),
    ),
    isCommitmentKnown: () => !ledger.commitmentUnknown,
    creditsAt: (accountId) => ledger.bic.get(accountId),
    rewardAt: ({ outputId }) => ok(manaRewards.get(outputId) ?? 0n),
  }
}

function printVerdict({ examination, error }: JudgedTransaction): Json {
  const code = error === undefined ? 0 : failureReasonOf(error)
  const verdict = {
    valid: error === undefined,
    code,
    name: present(failureReasonName(code), 'the name of a failure'),
  }
  if (error !== undefined || examination?.mana === undefined) return verdict
  const { inputs, outputs } = examination.mana
  return { ...verdict, totals: { manaIn: inputs.toString(), manaOut: outputs.toString() } }
}
