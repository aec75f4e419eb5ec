import { followBlocks } from '../../service/feed/follow-blocks.ts'
import { followStatus } from '../../service/feed/follow-status.ts'
import { orThrow } from '../errors.ts'
import { BlockNode } from './block.ts'
import { BlockFilter } from './block-lists.ts'
import { builder } from './builder.ts'
import { reads } from './prices.ts'
import { StatusType } from './status.ts'

/** What a home page follows: the status and new blocks. */

builder.subscriptionField('statusChanged', (t) =>
  t.field({
    complexity: reads(2),
    type: StatusType,
    description:
      'The status now, and again at each milestone. It is the newest one, not every one: a slow subscriber gets none of those in between.',
    subscribe: (_root, _args, { services }) => followStatus(services),
    resolve: (status) => status,
  }),
)

builder.subscriptionField('blocks', (t) =>
  t.field({
    complexity: reads(1),
    type: BlockNode,
    description:
      'Every block from now on, as soon as it is stored: in the order of arrival, each once, and none is left out for a slow subscriber. What becomes of it is told by blockState. It has no cursor: after a pause, list the blocks. Refused in upstream mode, for nodes do not report new blocks.',
    args: {
      filter: t.arg({
        type: BlockFilter,
        description: 'Left out: all blocks. New blocks are not followed by state.',
      }),
    },
    subscribe: async (_root, { filter }, { services }) =>
      orThrow(await followBlocks(services, filter ?? {})),
    resolve: (block) => block,
  }),
)
