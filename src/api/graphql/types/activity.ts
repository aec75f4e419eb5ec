import {
  type ActivityPoint,
  defaultActivityPoints,
  maxActivityPoints,
  readActivity,
} from '../../../service/slots/read-activity.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { itemsCost } from '../execution/prices.ts'

/** Activity of the ledger over time. */

const Resolution = enumOf(
  'ActivityResolution',
  'The length of the time spans of activity. A slot belongs to the span in which it begins.',
  {
    MINUTE: 'One minute of UTC.',
    HOUR: 'One hour of UTC.',
    DAY: 'One day of UTC.',
    EPOCH: 'One epoch of the protocol.',
  },
)

const upstream = 'Null in upstream mode, because nodes do not report blocks with their slots.'

builder.scalarType('UInt128', {
  description:
    'An integer from 0 to 2^128 - 1 as decimal text, for sums of amounts over many transactions. It is used in outputs only.',
  extensions: { isDigits: true },
  serialize: (value) => value.toString(),
})

const Point = builder.objectRef<ActivityPoint>('ActivityPoint').implement({
  description: 'The activity in the committed slots of one time span.',
  fields: (t) => ({
    start: t.field({
      type: 'DateTime',
      description: 'The start of the span. An epoch starts with its first slot.',
      resolve: ({ start }) => start * 1_000,
    }),
    ...exposed(t, 'Boolean', {
      isComplete:
        'Whether all slots of the span are committed. Only the newest span can be incomplete.',
    }),
  }),
})

builder.objectFields(Point, (t) => {
  const count = (name: CountName, description: string) =>
    t.field({ type: 'UInt64', description, resolve: (point) => point[name] })
  const maybe = (name: 'blocks' | 'blockBytes' | 'failed', description: string) =>
    t.field({
      type: 'UInt64',
      nullable: true,
      description: `${description} ${upstream}`,
      resolve: ({ [name]: counted }) => counted,
    })
  return {
    milestones: count('slots', 'The number of committed slots, including empty slots.'),
    blocks: maybe('blocks', 'The number of accepted blocks, including validation blocks.'),
    blockBytes: maybe('blockBytes', 'The total size of the serialized accepted blocks, in bytes.'),
    transactionsAccepted: count(
      'accepted',
      'The number of accepted transactions, without the transaction of the genesis.',
    ),
    transactionsFailed: maybe(
      'failed',
      'The number of transactions that failed permanently. Failures because of the block (an invalid signature, or an input that never arrived) are not counted, because another block may carry the transaction.',
    ),
    ledgerUpdates: count('updates', 'The number of ledger updates over all addresses and classes.'),
    baseTokensMoved: t.field({
      type: 'UInt128',
      nullable: true,
      description:
        'The number of transferred base tokens, in the smallest unit: the sum of the outputs of all accepted transactions without change. Change is every output whose owner also owned an input of the same transaction. Null if the node does not report which transaction spent an output.',
      resolve: ({ moved }) => moved ?? null,
    }),
    manaBurned: t.field({
      type: 'UInt128',
      nullable: true,
      description: `The mana that issuers were charged for their blocks: the work score times the reference mana cost. ${upstream}`,
      resolve: ({ burned }) => burned ?? null,
    }),
    addresses: count(
      'addresses',
      'The number of distinct addresses that owned an output when it was created or spent in the span.',
    ),
    newAddresses: count(
      'newAddresses',
      'The number of these addresses that had never owned an output before.',
    ),
  }
})

type CountName = 'slots' | 'accepted' | 'updates' | 'addresses' | 'newAddresses'

builder.queryField('activity', (t) =>
  t.field({
    type: [Point],
    nullable: true,
    complexity: ({ from }) => itemsCost(from == null ? defaultActivityPoints : maxActivityPoints),
    description: `The activity in each time span of a period, the oldest first, at most ${maxActivityPoints} spans. Spans before the genesis, spans after the newest milestone and spans with uncounted slots (docs/operations.md) are left out.`,
    args: {
      resolution: t.arg({
        type: Resolution,
        required: true,
        description: 'The length of a span.',
      }),
      from: t.arg({
        type: 'DateTime',
        description: `A time in the first span of the list. Defaults to ${defaultActivityPoints} spans before the end.`,
      }),
      to: t.arg({
        type: 'DateTime',
        description: 'The end of the period, exclusive. Defaults to the current time.',
      }),
    },
    resolve: async (_root, { resolution, from, to }, { services }) =>
      orThrow(
        await readActivity(services, { resolution, from: from ?? undefined, to: to ?? undefined }),
      ),
  }),
)
