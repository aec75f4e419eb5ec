import { listBlocks, listChildBlocks } from '../../../service/lists/list-blocks.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { fieldCost, itemsCost, listCost, reads } from '../execution/prices.ts'
import { filterArg, listArgs, listConnection, milestoneBounds } from '../lists.ts'
import { blockInBatch, blockPart, childPart, milestoneOfCommitment } from '../loaders.ts'
import { BlockNode, BlockState } from './block.ts'
import { Milestone, milestoneField } from './milestone.ts'

/** Lists of blocks, and fields from blocks to related objects. */

const BlockKind = enumOf('BlockKind', 'The kind of a block.', {
  BASIC: 'A basic block, with or without a payload.',
  VALIDATION: 'A validation block, with which a validator confirms other blocks.',
})

const PayloadKind = enumOf('PayloadKind', 'The kind of the payload of a block.', {
  NONE: 'The block has no payload.',
  TAGGED_DATA: 'Data with a tag.',
  TRANSACTION: 'A signed transaction.',
  CANDIDACY: 'The announcement that the issuer is a candidate for a committee.',
})

/** The GraphQL input for conditions on blocks, in lists and subscriptions. */
export const BlockFilter = builder.inputType('BlockFilter', {
  description:
    'Conditions on blocks. A block must meet all of them. state and issuerId cannot be combined.',
  fields: (t) => ({
    kind: t.field({ type: BlockKind, description: 'The kind of the blocks.' }),
    payload: t.field({ type: PayloadKind, description: 'The kind of the payload.' }),
    state: t.field({ type: BlockState, description: 'The state of the blocks.' }),
    issuerId: t.field({ type: 'AccountId', description: 'The account id of the issuer.' }),
    ...milestoneBounds(t, 'slot'),
  }),
})

export const BlockConnection = listConnection(
  'Block',
  BlockNode,
  'A page of blocks, in the order of the field that returns it (Relay connection).',
)

builder.queryField('blocks', (t) =>
  t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'A list of all stored blocks, including blocks that are not booked, ordered by issuing time and then by arrival. Null with an error in upstream mode.',
    complexity: listCost,
    args: { ...filterArg(BlockFilter, 'blocks'), ...listArgs },
    resolve: async (_root, { filter, ...page }, context) =>
      orThrow(await listBlocks(blockPart(context), filter ?? {}, page)),
  }),
)

/** A reference of a block. */
interface Parent {
  readonly kind: 'STRONG' | 'WEAK' | 'SHALLOW_LIKE'
  readonly blockId: Parameters<typeof blockInBatch>[1]
}

const ParentKind = enumOf('ParentKind', 'The kind of the reference of a block to a parent.', {
  STRONG: 'The block approves the parent and all blocks that the parent approves.',
  WEAK: 'The block approves the parent, but not the blocks that the parent approves.',
  SHALLOW_LIKE: 'The block prefers the transaction of the parent to a conflicting transaction.',
})

const BlockParent = builder.objectRef<Parent>('BlockParent').implement({
  description: 'A reference of a block to a parent.',
  fields: (t) => ({
    ...exposed(t, ParentKind, { kind: 'The kind of the reference.' }),
    ...exposed(t, 'BlockId', { blockId: 'The id of the parent.' }),
    block: t.field({
      complexity: reads(1),
      type: BlockNode,
      nullable: true,
      description:
        'The parent block. Null if it is not stored. The block of the genesis is never stored.',
      resolve: ({ blockId }, _args, context) => blockInBatch(context, blockId),
    }),
  }),
})

/** Price of the parents of a block: a validation block has up to 50 parents of each kind. */
const parentsCost = { field: fieldCost.block.field + itemsCost(150).field, multiplier: 150 }

builder.objectFields(BlockNode, (t) => ({
  parents: t.field({
    type: [BlockParent],
    description:
      'The parents of the block: strong, then weak, then shallow like parents, each group ordered by id.',
    complexity: parentsCost,
    resolve: (view): Parent[] => {
      const { strongParents, weakParents, shallowLikeParents } = view.block().body
      return [
        ...strongParents.map((blockId) => ({ kind: 'STRONG', blockId }) as const),
        ...weakParents.map((blockId) => ({ kind: 'WEAK', blockId }) as const),
        ...shallowLikeParents.map((blockId) => ({ kind: 'SHALLOW_LIKE', blockId }) as const),
      ]
    },
  }),
  children: t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'A list of the stored blocks that have the block as a parent of any kind, ordered by their arrival at the gateway. Null with an error in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ blockId }, page, context) =>
      orThrow(await listChildBlocks(childPart(context), blockId, page)),
  }),
  milestone: milestoneField(
    t,
    'The milestone of the slot of the block. Null until the slot is committed, and if the milestone is not known.',
    ({ slot }) => slot,
  ),
  commitment: t.field({
    type: Milestone,
    nullable: true,
    description:
      'The milestone whose commitment the block refers to. Null if that milestone is not known.',
    complexity: fieldCost.block,
    resolve: (view, _args, context) =>
      milestoneOfCommitment(context, view.block().header.slotCommitmentId),
  }),
}))
