import { listBlocks, listChildBlocks } from '../../service/lists/list-blocks.ts'
import { orThrow } from '../errors.ts'
import { BlockNode, BlockState } from './block.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { listArgs, listConnection, milestoneBounds } from './lists.ts'
import {
  blockInBatch,
  blockPart,
  childPart,
  milestoneInBatch,
  milestoneOfCommitment,
} from './loaders.ts'
import { Milestone } from './milestone.ts'
import { fieldCost, itemsCost, listCost, reads } from './prices.ts'

/** Lists of blocks, and what blocks lead to. */

const BlockKind = enumOf('BlockKind', 'The kind of a block.', {
  BASIC: 'A basic block, with or without a payload.',
  VALIDATION: 'A block by which a validator confirms others.',
})

const PayloadKind = enumOf('PayloadKind', 'What a block carries.', {
  NONE: 'Nothing.',
  TAGGED_DATA: 'Data with a tag.',
  TRANSACTION: 'A signed transaction.',
  CANDIDACY: 'The announcement that the issuer is a candidate for a committee.',
})

/** What blocks are listed and followed by. */
export const BlockFilter = builder.inputType('BlockFilter', {
  description: 'Conditions that blocks must all meet; state and issuerId exclude each other.',
  fields: (t) => ({
    kind: t.field({ type: BlockKind, description: 'Only blocks of this kind.' }),
    payload: t.field({ type: PayloadKind, description: 'What they carry.' }),
    state: t.field({ type: BlockState, description: 'Only blocks in this state.' }),
    issuerId: t.field({ type: 'AccountId', description: 'The issuing account.' }),
    ...milestoneBounds(
      t,
      'Only blocks of this slot or of later ones.',
      'Only blocks of this slot or of earlier ones.',
    ),
  }),
})

/** A page of blocks. */
export const BlockConnection = listConnection(
  'Block',
  BlockNode,
  'A page of blocks, by the time of their issuing (Relay connection).',
)

builder.queryField('blocks', (t) =>
  t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'All blocks that are kept, also those that are not booked; by issuing time, and of one time by arrival. Null, with an error, in upstream mode.',
    complexity: listCost,
    args: {
      filter: t.arg({ type: BlockFilter, description: 'Only what meets all of these.' }),
      ...listArgs,
    },
    resolve: async (_root, { filter, ...page }, context) =>
      orThrow(await listBlocks(blockPart(context), filter ?? {}, page)),
  }),
)

/** A reference of a block. */
interface Parent {
  readonly kind: 'STRONG' | 'WEAK' | 'SHALLOW_LIKE'
  readonly blockId: Parameters<typeof blockInBatch>[1]
}

const ParentKind = enumOf('ParentKind', 'How a block refers to another one.', {
  STRONG: 'It approves the block with everything that it approves.',
  WEAK: 'It approves the block without what it approves.',
  SHALLOW_LIKE: "It prefers the block's transaction to one that is in conflict with it.",
})

const BlockParent = builder.objectRef<Parent>('BlockParent').implement({
  description: 'A block that another block refers to.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ParentKind, description: 'The kind of the reference.' }),
    blockId: t.expose('blockId', { type: 'BlockId', description: 'The id of the parent.' }),
    block: t.field({
      complexity: reads(1),
      type: BlockNode,
      nullable: true,
      description:
        'The parent; null where it is not kept, as the block of the genesis, which never was one.',
      resolve: ({ blockId }, _args, context) => blockInBatch(context, blockId),
    }),
  }),
})

/** A validation block has up to 50 parents of each kind. */
const parentsCost = { field: fieldCost.block.field + itemsCost(150).field, multiplier: 150 }

builder.objectFields(BlockNode, (t) => ({
  parents: t.field({
    type: [BlockParent],
    description: 'The blocks it refers to: strong, weak and shallow like parents, each by id.',
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
      'The kept blocks that refer to it in any way, by id: there is no first or newest of them, and sort turns the order of ids round. Null, with an error, in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ blockId }, page, context) =>
      orThrow(await listChildBlocks(childPart(context), blockId, page)),
  }),
  milestone: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone of its slot; null while that is not committed.',
    complexity: reads(1),
    resolve: ({ slot }, _args, context) => milestoneInBatch(context, slot),
  }),
  commitment: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone whose commitment it names; null where that is not known.',
    complexity: fieldCost.block,
    resolve: (view, _args, context) =>
      milestoneOfCommitment(context, view.block().header.slotCommitmentId),
  }),
}))
