import { addressText } from '../../../service/addresses/address-text.ts'
import {
  type ExpirationTransfer,
  type FeedNotice,
  type FeedOpened,
  type FeedProgress,
  type FeedReset,
  type FeedSnapshot,
  historiesOf,
  type LedgerUpdateBatch,
  type UpdateHistory,
} from '../../../service/feed/feed-events.ts'
import { rowsPerChunk } from '../../../service/feed/feed-snapshot.ts'
import { maxFeedAddresses } from '../../../service/feed/follow-ledger-updates.ts'
import { readOutputs } from '../../../service/outputs/read-output.ts'
import type { Services } from '../../../service/services.ts'
import { type HistoryPoint, historyAt } from '../../../service/updates/update-history.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { enumOf, exposed, exposedOrNull } from '../declare.ts'
import { free, itemsCost, type Price, reads } from '../execution/prices.ts'
import { LedgerUpdate, UpdateClass } from './ledger-updates.ts'
import { OutputNode } from './output.ts'

/** The GraphQL types of feed events. docs/feed.md lists the guarantees of each event. */

const FeedMode = enumOf('FeedMode', 'The mode of a feed.', {
  CATCHING_UP: 'The feed reads updates that were committed earlier.',
  LIVE: 'The feed sends updates as they are committed.',
})

const FeedLimits = builder.objectRef<Services['feed']>('FeedLimits').implement({
  description: 'The limits of a feed.',
  fields: (t) => ({
    addresses: t.int({
      description: 'The maximum number of addresses per feed.',
      resolve: () => maxFeedAddresses,
    }),
    updatesPerBatch: t.exposeInt('batchRows', {
      description: 'The maximum number of updates per batch.',
    }),
    progressSeconds: t.float({
      description: 'Seconds without an update after which a feed sends a progress event.',
      resolve: ({ progressMs }) => progressMs / 1_000,
    }),
  }),
})

type HistoryKey = Pick<HistoryPoint, 'address' | 'class'>

/** Returns the fields that identify a history: its address and class. */
function historyFields(
  t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, HistoryKey>,
) {
  return {
    address: t.string({
      description: 'The address as Bech32 text.',
      resolve: ({ address }, _args, { services }) => textOf(services, address),
    }),
    class: t.expose('class', {
      type: UpdateClass,
      description: 'The class of the updates.',
    }),
  }
}

const FeedHistoryPoint = builder.objectRef<HistoryPoint>('FeedHistoryPoint').implement({
  description: 'The position of the newest update of an address and class.',
  fields: (t) => ({
    ...historyFields(t),
    ...exposed(t, 'UInt64', {
      ordinal: 'The ordinal of the newest update, or 0 before the first update.',
    }),
    ...exposed(t, 'Hex', {
      historyHash:
        'The history hash after the newest update, or 32 zero bytes before the first update.',
    }),
  }),
})

export const FeedOpenedType = builder.objectRef<FeedOpened>('FeedOpened').implement({
  description: 'The first event of every feed.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      cursor: 'The cursor at which the feed begins. A feed that resumes after it misses nothing.',
      oldestCursor: 'The oldest cursor that a feed can start from.',
      tipCursor: 'The cursor of the end of the log.',
    }),
    ...exposed(t, FeedMode, { mode: 'The current mode of the feed.' }),
    ...exposed(t, 'UInt32', { milestoneIndex: 'The index of the newest committed slot.' }),
    limits: t.field({
      complexity: free,
      type: FeedLimits,
      description: 'The limits of the feed.',
      resolve: (_event, _args, { services }) => services.feed,
    }),
    start: t.field({
      complexity: reads(2 * maxFeedAddresses),
      type: [FeedHistoryPoint],
      description:
        'The position of the newest update at the cursor, for each address and class of the feed. The next update has the next ordinal. Empty for a feed of the whole ledger, and if updates after the cursor have just been pruned or the log has just been replaced.',
      resolve: async ({ filter, position }, _args, { services }) => [
        ...(await historyAt(services, filter, position)),
      ],
    }),
  }),
})

export const FeedSnapshotType = builder.objectRef<FeedSnapshot>('FeedSnapshot').implement({
  description:
    'A piece of the snapshot: some of the outputs that were unspent at the cursor. The last piece is empty. A feed that resumes before the last piece starts the snapshot again.',
  fields: (t) => ({
    ...exposed(t, 'String', { cursor: 'The cursor at which the snapshot was taken.' }),
    ...exposed(t, ['OutputId'], { outputIds: 'The ids of the outputs.' }),
    outputs: t.field({
      type: [OutputNode],
      description:
        'The outputs in the order of outputIds, in their current state. An output may have been spent since the cursor; the feed sends that update later.',
      complexity: itemsCost(rowsPerChunk),
      resolve: async ({ outputIds }, _args, { services }) => [
        ...(await readOutputs(services, outputIds)),
      ],
    }),
    ...exposed(t, 'Boolean', { isLast: 'Whether this is the last piece of the snapshot.' }),
  }),
})

const FeedHistoryRange = builder.objectRef<UpdateHistory>('FeedHistoryRange').implement({
  description: 'The range of updates of one address and class in a batch.',
  fields: (t) => ({
    ...historyFields(t),
    ...exposed(t, 'UInt64', {
      firstOrdinal: 'The ordinal of the first update of the range.',
      lastOrdinal: 'The ordinal of the last update of the range.',
    }),
    ...exposed(t, 'Hex', { historyHash: 'The history hash after the last update of the range.' }),
  }),
})

export const LedgerUpdateBatchType = builder
  .objectRef<LedgerUpdateBatch>('LedgerUpdateBatch')
  .implement({
    description: 'A batch of at least one update, in the order of the log.',
    fields: (t) => ({
      updates: t.field({
        type: [LedgerUpdate],
        description: 'The updates of the batch.',
        complexity: batchCost,
        resolve: (batch) => [...batch.updates],
      }),
      ...exposed(t, 'String', {
        previousCursor:
          'The cursor of the previous event. No update of the feed lies between it and this batch.',
        cursor:
          'The position of the feed after the batch. A feed that resumes after it repeats nothing and misses nothing.',
      }),
      ...exposed(t, 'UInt32', {
        milestoneIndex: 'The index of the milestone of the last update.',
        milestoneTimestamp: 'The end of the slot of that milestone, in Unix seconds.',
      }),
      history: t.field({
        type: [FeedHistoryRange],
        description:
          'The first ordinal, the last ordinal and the history hash of each address and class in the batch.',
        complexity: batchCost,
        resolve: (batch) => historiesOf(batch),
      }),
    }),
  })

export const FeedProgressType = builder.objectRef<FeedProgress>('FeedProgress').implement({
  description:
    'A progress event: the feed had no update since the previous event. It is sent when a feed has caught up, and at intervals while there are no updates.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      previousCursor: 'The cursor of the previous event.',
      cursor: 'The position of the feed. All earlier updates of the feed have been sent.',
    }),
    ...exposed(t, 'UInt32', {
      milestoneIndex: 'The index of the newest milestone that the feed has covered.',
      milestoneTimestamp: 'The end of the slot of that milestone, in Unix seconds.',
    }),
    ...exposed(t, FeedMode, { mode: 'The current mode of the feed.' }),
  }),
})

const FeedHandover = builder.objectRef<ExpirationTransfer>('FeedHandover').implement({
  description: 'A transfer of an expired output to its return address.',
  fields: (t) => ({
    ...exposed(t, 'OutputId', { outputId: 'The id of the output.' }),
    from: t.string({
      description: 'The address of the previous owner as Bech32 text.',
      resolve: ({ from }, _args, { services }) => textOf(services, from),
    }),
    to: t.string({
      description: 'The address of the new owner as Bech32 text.',
      resolve: ({ to }, _args, { services }) => textOf(services, to),
    }),
    milestoneIndex: t.expose('slot', {
      type: 'UInt32',
      description: 'The index of the first milestone in which the new owner owns the output.',
    }),
  }),
})

const FeedNoticeTopic = enumOf('FeedNoticeTopic', 'The topic of a notice. Topics may be added.', {
  CATCHING_UP:
    'The subscriber was too slow and catches up by reading the log. It has missed nothing.',
  DRAINING: 'The gateway will stop soon. Resume on another gateway, or later.',
  OUTPUT_HANDED_OVER:
    'An output has expired and has a new owner. There is no ledger update for an expiration.',
  TOKEN_EXPIRING: 'The access token expires soon. The connection closes when it expires.',
})

export const FeedNoticeType = builder.objectRef<FeedNotice>('FeedNotice').implement({
  description: 'A notice about the feed itself. It does not change the position of the feed.',
  fields: (t) => ({
    ...exposed(t, FeedNoticeTopic, { topic: 'The topic of the notice.' }),
    ...exposed(t, 'String', { cursor: 'The cursor to resume after if the feed ends now.' }),
    ...exposedOrNull(t, 'Int', {
      closesWithinMs:
        'Milliseconds within which a gateway that stops closes the connection. Null for other topics.',
    }),
    ...exposedOrNull(t, 'UInt32', {
      expiresAt: 'The expiration time of the access token, in Unix seconds. Null for other topics.',
    }),
    ...exposedOrNull(t, FeedHandover, {
      handover: 'The transfer of an expired output. Null for other topics.',
    }),
  }),
})

const FeedResetReason = enumOf('FeedResetReason', 'The reason why a feed cannot continue.', {
  LOG_REPLACED:
    'The log was replaced by another log, or by an older copy of itself that then continued differently.',
  LOG_PRUNED: 'The next updates of the feed have been pruned from the log.',
})

export const FeedResetType = builder.objectRef<FeedReset>('FeedReset').implement({
  description:
    'The last event of a feed that cannot continue from its position. Start a new feed; it may have a gap to this one.',
  fields: (t) => ({
    ...exposed(t, FeedResetReason, {
      reason: 'The reason why the feed cannot continue from its cursor.',
    }),
    ...exposed(t, 'String', {
      oldestCursor: 'The oldest cursor that a feed can start from.',
      tipCursor: 'The cursor of the end of the log.',
    }),
  }),
})

/** Price of an event: every event is priced as a full batch. */
function batchCost(_args: object, { services }: GatewayContext): Price {
  return itemsCost(services.feed.batchRows)
}

function textOf(services: Services, address: HistoryPoint['address']): string {
  return addressText(services.parameters.bech32Hrp, address)
}
