import {
  type ActivityPoint,
  defaultActivityPoints,
  maxActivityPoints,
  readActivity,
} from '../../service/slots/read-activity.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { itemsCost } from './prices.ts'

/** What happened over time. */

const Resolution = enumOf(
  'ActivityResolution',
  'How long the spans of a chart are. A slot belongs to the span in which it begins.',
  {
    MINUTE: 'A minute of UTC.',
    HOUR: 'An hour of UTC.',
    DAY: 'A day of UTC.',
    EPOCH: 'An epoch of the protocol.',
  },
)

const upstream = 'Null in upstream mode, where the node does not report blocks with their slots.'

builder.scalarType('UInt128', {
  description:
    'A whole number from 0 to 2^128 - 1, as decimal text: sums of amounts over many transactions. An output only.',
  extensions: { isDigits: true },
  serialize: (value) => value.toString(),
})

const Point = builder.objectRef<ActivityPoint>('ActivityPoint').implement({
  description: 'What the committed slots of a span of time had.',
  fields: (t) => {
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
      start: t.field({
        type: 'DateTime',
        description: 'The beginning of the span; an epoch begins with its first slot.',
        resolve: ({ start }) => start * 1_000,
      }),
      isComplete: t.exposeBoolean('isComplete', {
        description:
          'Whether all slots of the span are committed. Only the newest span may not be.',
      }),
      milestones: count('slots', 'How many slots are committed, empty ones too.'),
      blocks: maybe('blocks', 'Accepted blocks, validation blocks too.'),
      blockBytes: maybe('blockBytes', 'Their serialized bytes.'),
      transactionsAccepted: count('accepted', 'Accepted transactions, without the genesis.'),
      transactionsFailed: maybe(
        'failed',
        'Transactions that failed for good. One that failed because of the block that carried it (a wrong signature, or an input that never came) is not counted: another block may carry it.',
      ),
      ledgerUpdates: count('updates', 'Ledger updates over all addresses and classes.'),
      baseTokensMoved: t.field({
        type: 'UInt128',
        nullable: true,
        description:
          'Base tokens that were transferred: the sum of the outputs of all accepted transactions without the change, which is every output whose owner also owned an input of the same transaction. Null if the node does not report what spent an output.',
        resolve: ({ moved }) => moved ?? null,
      }),
      manaBurned: t.field({
        type: 'UInt128',
        nullable: true,
        description: `Mana that issuers were charged for their blocks: work score times reference mana cost. ${upstream}`,
        resolve: ({ burned }) => burned ?? null,
      }),
      addresses: count(
        'addresses',
        'Different addresses that owned an output when it was created or spent in the span.',
      ),
      newAddresses: count('newAddresses', 'Those of them that had never owned an output before.'),
    }
  },
})

type CountName = 'slots' | 'accepted' | 'updates' | 'addresses' | 'newAddresses'

builder.queryField('activity', (t) =>
  t.field({
    type: [Point],
    nullable: true,
    complexity: ({ from }) => itemsCost(from == null ? defaultActivityPoints : maxActivityPoints),
    description: `What happened in each span of a time, the oldest first, at most ${maxActivityPoints} spans. Spans before the genesis and after the newest milestone are left out, and so are those of which not all slots are counted (docs/operations.md).`,
    args: {
      resolution: t.arg({
        type: Resolution,
        required: true,
        description: 'How long a span is.',
      }),
      from: t.arg({
        type: 'DateTime',
        description: `The list begins with the span that this lies in; left out: ${defaultActivityPoints} spans before the end.`,
      }),
      to: t.arg({
        type: 'DateTime',
        description: 'The list ends with the span just before this moment; left out: now.',
      }),
    },
    resolve: async (_root, { resolution, from, to }, { services }) =>
      orThrow(
        await readActivity(services, { resolution, from: from ?? undefined, to: to ?? undefined }),
      ),
  }),
)
