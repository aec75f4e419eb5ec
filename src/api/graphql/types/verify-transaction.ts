import { GraphQLError } from 'graphql'
import { hexToBytes } from '../../../lib/hex.ts'
import { refusalMessage } from '../../../protocol/refusal-message.ts'
import type { Refusal } from '../../../protocol/schema/refusal.ts'
import type { Form } from '../../../protocol/schema/schema.ts'
import {
  type Examined,
  type FailureInDetail,
  type SimulateTransactionError,
  type Simulation,
  simulateTransaction,
} from '../../../service/submit/simulate-transaction.ts'
import { printable, toGraphQL } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { free, judgementBase, judgementCost } from '../execution/prices.ts'
import { SignedTransactionInput, signedTransactionInput } from '../model/model.ts'

/** Simulates the submission of a transaction. */

const VerifyTransactionInput = builder.inputType('VerifyTransactionInput', {
  description: 'A signed transaction in one of three forms.',
  isOneOf: true,
  fields: (t) => ({
    transaction: t.field({
      type: SignedTransactionInput,
      description: 'The signed transaction as an input object.',
    }),
    json: t.field({ type: 'JSON', description: 'The payload in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'The serialized payload.' }),
  }),
})

const Outcome = enumOf(
  'TransactionOutcome',
  'The outcome that a submission of a transaction would have.',
  {
    ACCEPTED: 'The transaction would be booked.',
    FAILED: 'The block would be accepted, but the transaction would fail.',
    REFUSED: 'A block that carries the transaction would be refused now.',
    KNOWN: 'The transaction has already been submitted. Its state can be read by its id.',
  },
)

const TransactionRefusal = builder.objectRef<Refusal>('TransactionRefusal').implement({
  description: 'The reason why no block may carry a transaction.',
  fields: (t) => ({
    rule: t.exposeString('code', { description: 'The code of the broken rule.' }),
    ...exposed(t, 'String', { path: 'The path of the invalid part in the signed transaction.' }),
    message: t.string({
      description: 'The violation as a sentence.',
      resolve: (refusal) => refusalMessage(refusal, 'transaction'),
    }),
  }),
})

/** The GraphQL type of the failure of a transaction, in detail. */
export const ForeseenFailure = builder.objectRef<FailureInDetail>('ForeseenFailure').implement({
  description: 'The reason why a transaction would fail.',
  fields: (t) => ({
    ...exposed(t, 'Int', { code: 'The published number of the reason, from 1 to 255.' }),
    ...exposed(t, 'String', {
      name: 'The published name of the reason.',
      sentence: 'The reason in words, without an initial capital letter and without a full stop.',
    }),
    detail: t.field({
      type: 'JSON',
      description:
        'The inputs, outputs, addresses or sums that the failure is about. Large numbers are text.',
      resolve: ({ error: { code: _, ...fields } }) => printable(fields),
    }),
  }),
})

type ManaAccount = NonNullable<Examined['mana']>

/** The GraphQL type of the mana of a transaction, in detail. */
export const ForeseenMana = builder.objectRef<ManaAccount>('ForeseenMana').implement({
  description:
    'The mana of the inputs and outputs of a transaction in its creation slot. The difference is burned.',
  fields: (t) => ({
    ...exposed(t, 'UInt64', {
      inputs: 'The mana of all inputs, including the rewards that they claim.',
      rewards: 'The mana that the reward inputs claim.',
      outputs: 'The mana of all outputs and allotments.',
    }),
    ...exposed(t, ['UInt64'], {
      byInput: 'The stored and potential mana of each input, in the order of the inputs.',
    }),
  }),
})

export const VerifiedTransaction = builder.objectRef<Simulation>('VerifiedTransaction').implement({
  description:
    'The outcome that a submission of a transaction would have now. The transaction is not stored.',
  fields: (t) => ({
    ...exposed(t, 'TransactionId', { transactionId: 'The id of the transaction.' }),
    ...exposed(t, Outcome, { outcome: 'The outcome.' }),
    refusal: t.field({
      complexity: free,
      type: TransactionRefusal,
      nullable: true,
      description: 'The reason for the outcome REFUSED. Null for other outcomes.',
      resolve: (seen) => (seen.outcome === 'REFUSED' ? seen.refusal : null),
    }),
    failure: t.field({
      complexity: free,
      type: ForeseenFailure,
      nullable: true,
      description: 'The reason for the outcome FAILED. Null for other outcomes.',
      resolve: (seen) => (seen.outcome === 'FAILED' ? seen.failure : null),
    }),
    passedRules: t.field({
      complexity: free,
      type: ['String'],
      description:
        'The rules that the transaction meets, in the order in which they are checked. For the outcome FAILED, the next rule is broken.',
      resolve: (seen) => ('passed' in seen ? [...seen.passed] : []),
    }),
    brokenRule: t.string({
      nullable: true,
      description:
        'The rule that is broken, for the outcome FAILED. Null for other outcomes, and if an input or another object that the transaction refers to does not exist or is spent.',
      resolve: (seen) => ('broken' in seen ? seen.broken : null),
    }),
    mana: t.field({
      complexity: free,
      type: ForeseenMana,
      nullable: true,
      description: 'The mana of the transaction. Null if an earlier rule is broken.',
      resolve: (seen) => ('mana' in seen ? seen.mana : null),
    }),
  }),
})

builder.queryField('verifyTransaction', (t) =>
  t.field({
    type: VerifiedTransaction,
    nullable: true,
    description:
      'The outcome that a submission of a transaction would have now, by all rules of the ledger. Nothing is changed.',
    complexity: judgementCost,
    args: {
      input: t.arg({
        type: VerifyTransactionInput,
        required: true,
        description: 'The transaction to verify, in one of the forms of the input.',
      }),
    },
    resolve: async (_root, { input }, { services, budget }) => {
      budget.compute(judgementBase)
      const foreseen = await simulateTransaction(services, submissionOf(input))
      if (!foreseen.ok) throw placed(foreseen.error, input)
      return foreseen.value
    },
  }),
)

type Input = typeof VerifyTransactionInput.$inferInput

function submissionOf(input: Input): Form {
  if (input.bytes) return { form: 'bytes', bytes: hexToBytes(input.bytes) }
  if (!input.transaction) return { form: 'json', json: input.json }
  const json = signedTransactionInput.toJson(input.transaction)
  if (json.ok) return { form: 'json', json: json.value }
  throw placed({ code: 'TRANSACTION_MALFORMED', refusal: json.error }, input)
}

/** Returns the error with its path in the argument. */
function placed(error: SimulateTransactionError, input: Input): GraphQLError {
  const known = toGraphQL(error)
  if (error.code !== 'TRANSACTION_MALFORMED') return known
  const { path } = error.refusal
  const member = input.transaction ? 'transaction' : input.bytes ? 'bytes' : 'json'
  const inner = input.transaction ? signedTransactionInput.toPath(input.transaction, path) : path
  return new GraphQLError(known.message, {
    extensions: { ...known.extensions, path: ['input', member, inner].filter(Boolean).join('.') },
  })
}
