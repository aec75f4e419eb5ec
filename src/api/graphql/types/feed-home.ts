import { followBlocks } from '../../../service/feed/follow-blocks.ts'
import { followStatus } from '../../../service/feed/follow-status.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { reads } from '../execution/prices.ts'
import { BlockNode } from './block.ts'
import { BlockFilter } from './block-lists.ts'
import { StatusType } from './status.ts'

/** Subscriptions for a home page: the status and new blocks. */

builder.subscriptionField('statusChanged', (t) =>
  t.field({
    complexity: reads(2),
    type: StatusType,
    description:
      'The current status, and the new status at each milestone. A slow subscriber receives only the newest status and skips those in between.',
    subscribe: (_root, _args, { services }) => followStatus(services),
    resolve: (status) => status,
  }),
)

builder.subscriptionField('blocks', (t) =>
  t.field({
    complexity: reads(1),
    type: BlockNode,
    description:
      'New blocks as soon as they are stored, in the order of arrival, each of them once. A slow subscriber misses none. Changes of their states are available from blockState. The subscription has no cursor: after a disconnection, query the list of blocks. It ends when the log is replaced by another log or by an older copy of itself. It is refused in upstream mode, because nodes do not report new blocks.',
    args: {
      filter: t.arg({
        type: BlockFilter,
        description:
          'Conditions on the blocks, except the state. Without a filter, all new blocks are sent.',
      }),
    },
    subscribe: async (_root, { filter }, { services }) =>
      orThrow(await followBlocks(services, filter ?? {})),
    resolve: (block) => block,
  }),
)
