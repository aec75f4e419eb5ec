import { GraphQLError } from 'graphql'
import { hexToBytes } from '../../lib/hex.ts'
import { refusalMessage } from '../../protocol/refusal-message.ts'
import type { Refusal } from '../../protocol/schema/refusal.ts'
import {
  type Examined,
  type FailureInDetail,
  type SimulatedSubmission,
  type SimulateTransactionError,
  type Simulation,
  simulateTransaction,
} from '../../service/submit/simulate-transaction.ts'
import { printable, toGraphQL } from '../errors.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { SignedTransactionInput, signedTransactionInput } from './model.ts'
import { free, judgementBase, judgementCost } from './prices.ts'

/** What would happen to a transaction now. */

const VerifyTransactionInput = builder.inputType('VerifyTransactionInput', {
  description: 'A transaction with its unlocks in one of three forms.',
  isOneOf: true,
  fields: (t) => ({
    transaction: t.field({ type: SignedTransactionInput, description: 'Member by member.' }),
    json: t.field({ type: 'JSON', description: 'The payload in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'The serialized payload.' }),
  }),
})

const Outcome = enumOf('TransactionOutcome', 'What would happen to a transaction.', {
  ACCEPTED: 'It would be booked.',
  FAILED: 'It would be judged and refused; its block would be accepted.',
  REFUSED: 'No block of this moment may carry it.',
  KNOWN: 'It has been submitted already: ask for it by its id.',
})

const TransactionRefusal = builder.objectRef<Refusal>('TransactionRefusal').implement({
  description: 'Why no block may carry a transaction.',
  fields: (t) => ({
    rule: t.exposeString('code', { description: 'The broken rule.' }),
    path: t.exposeString('path', { description: 'Where in the signed transaction it is broken.' }),
    message: t.string({
      description: 'The rule in words.',
      resolve: (refusal) => refusalMessage(refusal, 'transaction'),
    }),
  }),
})

/** Why a transaction fails, in detail. */
export const ForeseenFailure = builder.objectRef<FailureInDetail>('ForeseenFailure').implement({
  description: 'Why a transaction would fail.',
  fields: (t) => ({
    code: t.exposeInt('code', { description: 'The published number of the reason, 1 to 255.' }),
    name: t.exposeString('name', { description: 'The published name of the reason.' }),
    sentence: t.exposeString('sentence', {
      description: 'The reason in words: without a capital, without a full stop.',
    }),
    detail: t.field({
      type: 'JSON',
      description: 'Which input, output, address or sum is concerned; large numbers as text.',
      resolve: ({ error: { code: _, ...fields } }) => printable(fields),
    }),
  }),
})

type ManaAccount = NonNullable<Examined['mana']>

/** The mana of a transaction in detail. */
export const ForeseenMana = builder.objectRef<ManaAccount>('ForeseenMana').implement({
  description:
    'The mana of both sides of a transaction in its creation slot. What is left over is burned.',
  fields: (t) => ({
    inputs: t.field({
      type: 'UInt64',
      description: 'Of all inputs, with the rewards they claim.',
      resolve: ({ inputs }) => inputs,
    }),
    byInput: t.field({
      complexity: free,
      type: ['UInt64'],
      description: 'Stored and potential mana of each input.',
      resolve: ({ byInput }) => [...byInput],
    }),
    rewards: t.expose('rewards', { type: 'UInt64', description: 'What reward inputs claim.' }),
    outputs: t.field({
      type: 'UInt64',
      description: 'Of all outputs and allotments.',
      resolve: ({ outputs }) => outputs,
    }),
  }),
})

/** What would happen to a transaction. */
export const VerifiedTransaction = builder.objectRef<Simulation>('VerifiedTransaction').implement({
  description: 'The outcome of a transaction, were it submitted now. It is not stored.',
  fields: (t) => ({
    transactionId: t.expose('transactionId', {
      type: 'TransactionId',
      description: 'The id it has or would have.',
    }),
    outcome: t.expose('outcome', { type: Outcome, description: 'What would become of it.' }),
    refusal: t.field({
      complexity: free,
      type: TransactionRefusal,
      nullable: true,
      description: 'Of a REFUSED one.',
      resolve: (seen) => (seen.outcome === 'REFUSED' ? seen.refusal : null),
    }),
    failure: t.field({
      complexity: free,
      type: ForeseenFailure,
      nullable: true,
      description: 'Of a FAILED one.',
      resolve: (seen) => (seen.outcome === 'FAILED' ? seen.failure : null),
    }),
    passedRules: t.field({
      complexity: free,
      type: ['String'],
      description: 'The rules that hold, in their order; of a FAILED one the next is broken.',
      resolve: (seen) => ('passed' in seen ? [...seen.passed] : []),
    }),
    brokenRule: t.string({
      nullable: true,
      description:
        'The rule that a FAILED one breaks; null of others, and where its inputs or what else it refers to are not there, or are spent.',
      resolve: (seen) => ('broken' in seen ? seen.broken : null),
    }),
    mana: t.field({
      complexity: free,
      type: ForeseenMana,
      nullable: true,
      description: 'Null where the rules ended before it.',
      resolve: (seen) => ('mana' in seen ? seen.mana : null),
    }),
  }),
})

builder.queryField('verifyTransaction', (t) =>
  t.field({
    type: VerifiedTransaction,
    nullable: true,
    description:
      'Judges a transaction against the ledger as it is now, by all rules, and changes nothing.',
    complexity: judgementCost,
    args: {
      input: t.arg({
        type: VerifyTransactionInput,
        required: true,
        description: 'The transaction, in one of its forms.',
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

function submissionOf(input: Input): SimulatedSubmission {
  if (input.bytes) return { form: 'bytes', bytes: hexToBytes(input.bytes) }
  if (!input.transaction) return { form: 'json', json: input.json }
  const json = signedTransactionInput.toJson(input.transaction)
  if (json.ok) return { form: 'json', json: json.value }
  throw placed({ code: 'TRANSACTION_MALFORMED', refusal: json.error }, input)
}

/** The error with its place in the argument. */
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
