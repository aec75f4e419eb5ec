import { addressKeyOf } from '../../../service/addresses/address-key.ts'
import {
  type FeedSelection,
  followLedgerUpdates,
  maxFeedAddresses,
} from '../../../service/feed/follow-ledger-updates.ts'
import type { Services } from '../../../service/services.ts'
import { orThrow, toGraphQL } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { free } from '../execution/prices.ts'
import {
  FeedNoticeType,
  FeedOpenedType,
  FeedProgressType,
  FeedResetType,
  FeedSnapshotType,
  LedgerUpdateBatchType,
} from './feed-events.ts'
import { UpdateClass } from './ledger-updates.ts'

/** The subscription to ledger updates. */

const LedgerFeedEvent = builder.unionType('LedgerFeedEvent', {
  description: 'An event of a feed. Types may be added: clients should ignore unknown types.',
  types: [
    FeedOpenedType,
    FeedSnapshotType,
    LedgerUpdateBatchType,
    FeedProgressType,
    FeedNoticeType,
    FeedResetType,
  ],
  resolveType: (event) => event.kind,
})

/** The arguments of the subscription, as GraphQL has coerced them. */
export interface LedgerFeedArguments {
  readonly addresses?: readonly string[] | null | undefined
  readonly after?: string | null | undefined
  readonly afterMilestone?: number | null | undefined
  readonly classes: FeedSelection['classes']
  readonly snapshot: boolean
}

/** Converts the arguments to a selection. Throws a GraphQLError for an invalid address, or for too many of them. */
export function feedSelectionOf(
  { parameters }: Pick<Services, 'parameters'>,
  { addresses, after, afterMilestone, classes, snapshot }: LedgerFeedArguments,
): FeedSelection {
  const count = addresses?.length ?? 0
  const limit = maxFeedAddresses
  // Checked first, because decoding the addresses of a document of the maximum size takes a quarter of a second.
  if (count > limit) throw toGraphQL({ code: 'FEED_ADDRESS_COUNT', count, limit })
  const keys = addresses?.map((text, i) =>
    orThrow(addressKeyOf(parameters.bech32Hrp, text, `addresses.${i}`)),
  )
  return {
    ...(keys && { addresses: keys }),
    ...(after != null && { after }),
    ...(afterMilestone != null && { afterMilestone }),
    classes,
    snapshot,
  }
}

builder.subscriptionType({
  description: 'The subscriptions of the gateway.',
  fields: (t) => ({
    ledgerUpdates: t.field({
      complexity: free,
      type: LedgerFeedEvent,
      description:
        'The ledger updates of addresses as they are committed: first existing updates after the cursor, then new updates. A subscription that resumes after the cursor of the last event misses nothing and repeats nothing.',
      args: {
        addresses: t.arg.stringList({
          description:
            'The 1 to 100 addresses to follow, as Bech32 texts of this network. Without this argument, the whole ledger is followed.',
        }),
        after: t.arg.string({
          description:
            'The cursor after which to start. Without a cursor or a milestone, only new updates are sent.',
        }),
        afterMilestone: t.arg({
          type: 'UInt32',
          description:
            'The index of the milestone after which to start. It cannot be combined with after.',
        }),
        classes: t.arg({
          type: [UpdateClass],
          required: true,
          defaultValue: ['OWNED'],
          description: 'The classes of updates to follow, at least one.',
        }),
        snapshot: t.arg.boolean({
          required: true,
          defaultValue: false,
          description:
            'Whether the feed starts with a snapshot: the outputs of the addresses that are unspent at the start position.',
        }),
      },
      subscribe: async (_root, args, { services }) =>
        orThrow(await followLedgerUpdates(services, feedSelectionOf(services, args))),
      resolve: (event) => event,
    }),
  }),
})
