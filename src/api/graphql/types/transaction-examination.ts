import { bytesToHex } from '../../../lib/hex.ts'
import { encode } from '../../../protocol/schema/schema.ts'
import { SignedTransaction } from '../../../protocol/transaction.ts'
import {
  type Examination,
  examineTransaction,
} from '../../../service/submit/examine-transaction.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposedOrNull } from '../declare.ts'
import { fieldCost, free, judgementBase } from '../execution/prices.ts'
import { withContent } from '../loaders.ts'
import { TransactionNode } from './transaction.ts'
import { ForeseenFailure, ForeseenMana } from './verify-transaction.ts'

/** The examination of a judged transaction, and its bytes. */

const TransactionExamination = builder.objectRef<Examination>('TransactionExamination').implement({
  description: 'The result of checking a judged transaction by the rules of the ledger.',
  fields: (t) => ({
    passedRules: t.field({
      complexity: free,
      type: ['String'],
      description:
        'The rules that the transaction meets, in the order in which they are checked. For the state FAILED, the next rule is broken. Empty if an input or another object that the transaction refers to did not exist or was spent.',
      resolve: ({ passed }) => [...passed],
    }),
    brokenRule: t.string({
      nullable: true,
      description:
        'The rule that the transaction breaks. Null if it breaks none, and if an input or another object that the transaction refers to did not exist or was spent.',
      resolve: ({ broken }) => broken,
    }),
    ...exposedOrNull(t, ForeseenFailure, {
      failure:
        'The failure of the transaction in detail. Null if it did not fail, and if the details are no longer known.',
    }),
    ...exposedOrNull(t, ForeseenMana, {
      mana: 'The mana of the transaction. Null if an earlier rule is broken.',
    }),
  }),
})

builder.objectFields(TransactionNode, (t) => ({
  examination: t.field({
    complexity: fieldCost.examination,
    type: TransactionExamination,
    nullable: true,
    description:
      'The examination of the transaction, computed from the objects that it refers to. Null for the state PENDING, for the transaction of the genesis, and if one of these objects is no longer stored. Null with an error if an upstream node does not provide it.',
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
      'The serialized signed transaction, as accepted by verifyTransaction. Null for the transaction of the genesis.',
    resolve: async (listed, _args, context) => {
      const { payload } = await withContent(context, listed)
      return payload && bytesToHex(encode(SignedTransaction, payload))
    },
  }),
}))
