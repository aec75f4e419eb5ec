import { addressKeyOf } from '../../service/addresses/address-key.ts'
import {
  type FeedSelection,
  followLedgerUpdates,
} from '../../service/feed/follow-ledger-updates.ts'
import type { Services } from '../../service/services.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import {
  FeedNoticeType,
  FeedOpenedType,
  FeedProgressType,
  FeedResetType,
  FeedSnapshotType,
  LedgerUpdateBatchType,
} from './feed-events.ts'
import { UpdateClass } from './ledger-updates.ts'
import { free } from './prices.ts'

/** The subscription to ledger updates. */

const LedgerFeedEvent = builder.unionType('LedgerFeedEvent', {
  description: 'An event of a feed. More kinds may be added: ignore those you do not know.',
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

/** The arguments of the subscription, as GraphQL gives them. */
export interface LedgerFeedArguments {
  readonly addresses?: readonly string[] | null | undefined
  readonly after?: string | null | undefined
  readonly afterMilestone?: number | null | undefined
  readonly classes: FeedSelection['classes']
  readonly snapshot: boolean
}

/** What is asked for; an address that is none throws. */
export function feedQuestionOf(
  { parameters }: Pick<Services, 'parameters'>,
  { addresses, after, afterMilestone, classes, snapshot }: LedgerFeedArguments,
): FeedSelection {
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
  description: 'What can be followed.',
  fields: (t) => ({
    ledgerUpdates: t.field({
      complexity: free,
      type: LedgerFeedEvent,
      description:
        'The updates of some addresses as they are committed: first those after the cursor that are there already, then the new ones, by the same read. Nothing is missed or repeated when it is resumed after the cursor of the last event.',
      args: {
        addresses: t.arg.stringList({
          description: '1 to 100 Bech32 texts, of this network; left out: the whole ledger.',
        }),
        after: t.arg.string({
          description: 'A cursor; left out: only what is committed from now on.',
        }),
        afterMilestone: t.arg({
          type: 'UInt32',
          description: 'A milestone, in place of a cursor: begin with the next one.',
        }),
        classes: t.arg({
          type: [UpdateClass],
          required: true,
          defaultValue: ['OWNED'],
          description: 'At least one class of updates.',
        }),
        snapshot: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: 'Begin with the outputs of the addresses that are unspent at that position.',
        }),
      },
      subscribe: async (_root, args, { services }) =>
        orThrow(await followLedgerUpdates(services, feedQuestionOf(services, args))),
      resolve: (event) => event,
    }),
  }),
})
