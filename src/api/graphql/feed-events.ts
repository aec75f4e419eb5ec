import { addressText } from '../../service/addresses/address-text.ts'
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
} from '../../service/feed/feed-events.ts'
import { rowsPerPiece } from '../../service/feed/feed-snapshot.ts'
import { maximumFeedAddresses } from '../../service/feed/follow-ledger-updates.ts'
import { readOutputs } from '../../service/outputs/read-output.ts'
import type { Services } from '../../service/services.ts'
import { type HistoryPoint, historyAt } from '../../service/updates/update-history.ts'
import { builder, type GatewayContext } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { uint32s, uint64s } from './exposed.ts'
import { LedgerUpdate, UpdateClass } from './ledger-updates.ts'
import { OutputNode } from './output.ts'
import { free, itemsCost, type Price, reads } from './prices.ts'

/** The events of the feed in GraphQL; docs/feed.md has the guarantees of each. */

const FeedMode = enumOf('FeedMode', 'How a feed continues.', {
  CATCHING_UP: 'It reads what was committed earlier.',
  LIVE: 'It sends updates as they are committed.',
})

const FeedLimits = builder.objectRef<Services['feed']>('FeedLimits').implement({
  description: 'The limits of a feed.',
  fields: (t) => ({
    addresses: t.int({
      description: 'The most addresses of one feed.',
      resolve: () => maximumFeedAddresses,
    }),
    updatesPerBatch: t.exposeInt('batchRows', { description: 'The most updates of one batch.' }),
    progressSeconds: t.float({
      description: 'After so many seconds without an update a feed sends its progress.',
      resolve: ({ progressMs }) => progressMs / 1_000,
    }),
  }),
})

type HistoryKey = Pick<HistoryPoint, 'address' | 'class'>

/** Whose history it is about. */
function historyFields(
  t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, HistoryKey>,
) {
  return {
    address: t.string({
      description: 'Bech32 text of the address.',
      resolve: ({ address }, _args, { services }) => textOf(services, address),
    }),
    class: t.expose('class', {
      type: UpdateClass,
      description: 'The class of updates that it is about.',
    }),
  }
}

const FeedHistoryPoint = builder.objectRef<HistoryPoint>('FeedHistoryPoint').implement({
  description: 'The newest update of one address and class.',
  fields: (t) => ({
    ...historyFields(t),
    ordinal: t.expose('ordinal', {
      type: 'UInt64',
      description: 'The ordinal of the last update; 0 before the first.',
    }),
    historyHash: t.expose('historyHash', {
      type: 'Hex',
      description: 'The history hash after that update; 32 zero bytes before the first.',
    }),
  }),
})

/** The first event. */
export const FeedOpenedType = builder.objectRef<FeedOpened>('FeedOpened').implement({
  description: 'The first event of every feed.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'Where the feed begins; resuming after it misses nothing.',
    }),
    oldestCursor: t.exposeString('oldestCursor', {
      description: 'The oldest position that a feed can begin at.',
    }),
    tipCursor: t.exposeString('tipCursor', { description: 'How far the log reaches.' }),
    mode: t.expose('mode', {
      type: FeedMode,
      description: 'Whether the feed is live or catches up.',
    }),
    milestoneIndex: t.expose('milestoneIndex', {
      type: 'UInt32',
      description: 'The newest committed slot.',
    }),
    limits: t.field({
      complexity: free,
      type: FeedLimits,
      description: 'The limits of the feed.',
      resolve: (_event, _args, { services }) => services.feed,
    }),
    start: t.field({
      complexity: reads(2 * maximumFeedAddresses),
      type: [FeedHistoryPoint],
      description:
        'The newest update of each address and class of the feed at the cursor: the next one has the next ordinal. Empty for a feed of the whole ledger.',
      resolve: async ({ filter, position }, _args, { services }) => [
        ...(await historyAt(services, filter, position)),
      ],
    }),
  }),
})

/** A piece of the snapshot. */
export const FeedSnapshotType = builder.objectRef<FeedSnapshot>('FeedSnapshot').implement({
  description:
    'Some of the outputs that were unspent at the cursor. The last piece is empty; resuming before it begins the snapshot again.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The cursor that the snapshot is taken at.' }),
    outputIds: t.field({
      complexity: free,
      type: ['OutputId'],
      description: 'The ids of the outputs.',
      resolve: ({ outputIds }) => [...outputIds],
    }),
    outputs: t.field({
      type: [OutputNode],
      description:
        'The same outputs as they are now: one may have been spent since, and the feed sends that.',
      complexity: itemsCost(rowsPerPiece),
      resolve: async ({ outputIds }, _args, { services }) => [
        ...(await readOutputs(services, outputIds)),
      ],
    }),
    isLast: t.exposeBoolean('isLast', { description: 'Whether the snapshot is complete now.' }),
  }),
})

const FeedHistoryRange = builder.objectRef<UpdateHistory>('FeedHistoryRange').implement({
  description: 'What a batch has of one address and class.',
  fields: (t) => ({
    ...historyFields(t),
    ...uint64s(t, {
      firstOrdinal: 'The ordinal of the first of them.',
      lastOrdinal: 'The ordinal of the last of them.',
    }),
    historyHash: t.expose('historyHash', {
      type: 'Hex',
      description: 'The history hash after the last of them.',
    }),
  }),
})

/** Updates. */
export const LedgerUpdateBatchType = builder
  .objectRef<LedgerUpdateBatch>('LedgerUpdateBatch')
  .implement({
    description: 'Some updates, in the order of the log; never empty.',
    fields: (t) => ({
      updates: t.field({
        type: [LedgerUpdate],
        description: 'The updates.',
        complexity: batchCost,
        resolve: (batch) => [...batch.updates],
      }),
      previousCursor: t.exposeString('previousCursor', {
        description: 'The cursor of the event before; no update lies between it and these.',
      }),
      cursor: t.exposeString('cursor', {
        description: 'The progress of the feed; resuming after it repeats and misses nothing.',
      }),
      ...uint32s(t, {
        milestoneIndex: 'The milestone of the last update.',
        milestoneTimestamp: 'The end of its slot, in Unix seconds.',
      }),
      history: t.field({
        type: [FeedHistoryRange],
        description: 'First and last ordinal of each address and class, and its history hash.',
        complexity: batchCost,
        resolve: (batch) => historiesOf(batch),
      }),
    }),
  })

/** The progress of a quiet feed. */
export const FeedProgressType = builder.objectRef<FeedProgress>('FeedProgress').implement({
  description:
    'No update came since the event before. Sent when a feed has caught up, and at intervals while it is quiet.',
  fields: (t) => ({
    previousCursor: t.exposeString('previousCursor', {
      description: 'The cursor of the event before.',
    }),
    cursor: t.exposeString('cursor', { description: 'The feed is covered up to here.' }),
    ...uint32s(t, {
      milestoneIndex: 'The newest milestone that is covered.',
      milestoneTimestamp: 'The end of its slot, in Unix seconds.',
    }),
    mode: t.expose('mode', {
      type: FeedMode,
      description: 'Whether the feed is live or catches up.',
    }),
  }),
})

const FeedHandover = builder.objectRef<ExpirationTransfer>('FeedHandover').implement({
  description: 'An output that expired, and so passed to its return address.',
  fields: (t) => ({
    outputId: t.expose('outputId', {
      type: 'OutputId',
      description: 'The output that passed to another owner.',
    }),
    from: t.string({
      description: 'Bech32 text of the former owner.',
      resolve: ({ from }, _args, { services }) => textOf(services, from),
    }),
    to: t.string({
      description: 'Bech32 text of the new owner.',
      resolve: ({ to }, _args, { services }) => textOf(services, to),
    }),
    milestoneIndex: t.expose('slot', {
      type: 'UInt32',
      description: 'The first milestone in which the new owner is the owner.',
    }),
  }),
})

const FeedNoticeTopic = enumOf('FeedNoticeTopic', 'What a notice is about. More may be added.', {
  CATCHING_UP: 'The subscriber was too slow and reads alone again; it has missed nothing.',
  DRAINING: 'The gateway is about to stop: resume elsewhere, or later.',
  OUTPUT_HANDED_OVER: 'An output has another owner by time alone, for which there is no update.',
  TOKEN_EXPIRING: 'The token ends soon, and the connection with it.',
})

/** About the feed itself. */
export const FeedNoticeType = builder.objectRef<FeedNotice>('FeedNotice').implement({
  description: 'Something about the feed itself; it changes no position.',
  fields: (t) => ({
    topic: t.expose('topic', { type: FeedNoticeTopic, description: 'What it is about.' }),
    cursor: t.exposeString('cursor', {
      description: 'Where to resume, should the feed end now.',
    }),
    closesWithinMs: t.exposeInt('closesWithinMs', {
      nullable: true,
      description: 'The connection is closed within so many milliseconds; null where it is not.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'UInt32',
      nullable: true,
      description: 'The end of the token, in Unix seconds.',
    }),
    handover: t.expose('handover', {
      complexity: free,
      type: FeedHandover,
      nullable: true,
      description:
        'The output that has another owner; null where the notice is about another topic.',
    }),
  }),
})

const FeedResetReason = enumOf('FeedResetReason', 'Why a feed cannot go on.', {
  LOG_REPLACED:
    'The log was replaced by another, or by an older copy of itself that continued differently.',
  LOG_PRUNED: 'The next updates of this feed are no longer kept.',
})

/** The last event of a feed that cannot go on. */
export const FeedResetType = builder.objectRef<FeedReset>('FeedReset').implement({
  description:
    'The feed cannot go on from where it was, and ends. Begin again, knowing of the gap.',
  fields: (t) => ({
    reason: t.expose('reason', {
      type: FeedResetReason,
      description: 'Why the feed cannot go on from its cursor.',
    }),
    oldestCursor: t.exposeString('oldestCursor', {
      description: 'The oldest position that a feed can begin at.',
    }),
    tipCursor: t.exposeString('tipCursor', { description: 'How far the log reaches.' }),
  }),
})

/** Every event counts as a full batch. */
function batchCost(_args: object, { services }: GatewayContext): Price {
  return itemsCost(services.feed.batchRows)
}

function textOf(services: Services, address: HistoryPoint['address']): string {
  return addressText(services.parameters.bech32Hrp, address)
}
