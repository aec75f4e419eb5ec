import { is } from './is.ts'
import { TransactionIdInFull } from './json-aliases.ts'
import { AccountId, CommitmentId, maxPerTransaction, u16 } from './primitives.ts'
import type { ListSchema } from './schema/composites.ts'
import { list, union, variant } from './schema/declare.ts'
import { about, type Infer } from './schema/schema.ts'

/** The inputs of a transaction: context inputs and spent outputs (codec reference 5.1, 5.2). */

export const CommitmentInput = about(
  'slot commitment that determines the time of the transaction',
  variant(
    'CommitmentInput',
    0,
    { commitmentId: about('id of the commitment', CommitmentId) },
    { documentedCode: 1 },
  ),
)
export interface CommitmentInput extends Infer<typeof CommitmentInput> {}

export const BlockIssuanceCreditInput = about(
  'block issuance credit of an account, as of the slot of the commitment input',
  variant(
    'BlockIssuanceCreditInput',
    1,
    { accountId: about('id of the account', AccountId) },
    { documentedCode: 2 },
  ),
)
export interface BlockIssuanceCreditInput extends Infer<typeof BlockIssuanceCreditInput> {}

export const RewardInput = about(
  'claims the rewards of one input',
  variant(
    'RewardInput',
    2,
    { index: about('index of that input in the transaction, 0 to 127', u16) },
    {
      documentedCode: 3,
      check: ({ index }) =>
        index > 128 ? { rule: 'TX_REWARD_INDEX_BOUND', at: ['index'] } : undefined,
    },
  ),
)
export interface RewardInput extends Infer<typeof RewardInput> {}

export const ContextInput = union(
  'ContextInput',
  CommitmentInput,
  BlockIssuanceCreditInput,
  RewardInput,
)
export type ContextInput = Infer<typeof ContextInput>

export const ContextInputs = decidesNumbering(
  about(
    'context inputs of the transaction: sorted by type, then account id or index',
    list('u16', ContextInput, {
      max: maxPerTransaction,
      size: 'TX_CONTEXT_INPUTS_COUNT',
      order: { by: compareContextInputs, rule: 'TX_CONTEXT_INPUTS_ORDER' },
      omitEmpty: true,
    }),
  ),
)

export const UtxoInput = about(
  'an output to spend',
  variant('UTXOInput', 0, {
    transactionId: about('the transaction that created the output', TransactionIdInFull),
    transactionOutputIndex: about('index of the output in its transaction, 0 to 127', u16),
  }),
)
export interface UtxoInput extends Infer<typeof UtxoInput> {}

export const Input = union('Input', UtxoInput)
export type Input = Infer<typeof Input>

/** A list that determines the numbering of its bytes, unless the list is empty. */
function decidesNumbering<T>(schema: ListSchema<T>): ListSchema<T> {
  return {
    ...schema,
    read: (r) => {
      const elements = schema.read(r)
      if (elements.length > 0) r.isNumberingSure = true
      return elements
    },
  }
}

function compareContextInputs(a: ContextInput, b: ContextInput): number {
  if (is(BlockIssuanceCreditInput, a) && is(BlockIssuanceCreditInput, b))
    return a.accountId < b.accountId ? -1 : a.accountId > b.accountId ? 1 : 0
  if (is(RewardInput, a) && is(RewardInput, b)) return a.index - b.index
  return a.type - b.type
}
