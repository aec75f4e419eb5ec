import { bytesToHex } from '../../lib/hex.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { SignedTransaction } from '../../protocol/transaction.ts'
import { type Examination, examineTransaction } from '../../service/submit/examine-transaction.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { withContent } from './loaders.ts'
import { fieldCost, free, judgementBase } from './prices.ts'
import { TransactionNode } from './transaction.ts'
import { ForeseenFailure, ForeseenMana } from './verify-transaction.ts'

/** How a transaction was judged, and the bytes that were. */

const TransactionExamination = builder.objectRef<Examination>('TransactionExamination').implement({
  description: 'How far the rules of the ledger hold for a transaction that was judged.',
  fields: (t) => ({
    passedRules: t.field({
      complexity: free,
      type: ['String'],
      description:
        'The rules that hold, in their order; of a FAILED one the next is broken. None where its inputs or what else it refers to were not there, or were spent.',
      resolve: ({ passed }) => [...passed],
    }),
    brokenRule: t.string({
      nullable: true,
      description:
        'The rule that it breaks; null where it breaks none, and where its inputs or what else it refers to were not there, or were spent.',
      resolve: ({ broken }) => broken,
    }),
    failure: t.field({
      complexity: free,
      type: ForeseenFailure,
      nullable: true,
      description:
        'The failure with what is wrong where; null where it did not fail, and where that is not known any more.',
      resolve: ({ failure }) => failure,
    }),
    mana: t.field({
      complexity: free,
      type: ForeseenMana,
      nullable: true,
      description: 'Null where the rules ended before it.',
      resolve: ({ mana }) => mana,
    }),
  }),
})

builder.objectFields(TransactionNode, (t) => ({
  examination: t.field({
    complexity: fieldCost.examination,
    type: TransactionExamination,
    nullable: true,
    description:
      'How it was judged, by what it refers to. Null while it is PENDING, for that of the genesis, where what it refers to is not kept, and, with an error, where an upstream node does not give it.',
    resolve: async (listed, _args, context) => {
      context.budget.compute(judgementBase)
      return orThrow(await examineTransaction(context.services, await withContent(context, listed)))
    },
  }),
  bytes: t.field({
    complexity: fieldCost.blockBytes,
    type: 'Hex',
    nullable: true,
    description:
      'The serialized transaction with its unlocks, as verifyTransaction takes it; null for that of the genesis.',
    resolve: async (listed, _args, context) => {
      const { payload } = await withContent(context, listed)
      return payload && bytesToHex(encode(SignedTransaction, payload))
    },
  }),
}))
