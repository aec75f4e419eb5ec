import { present } from '../../lib/assert.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import {
  type LedgerUpdatePage,
  type LedgerUpdateView,
  listLedgerUpdates,
} from '../../service/updates/list-ledger-updates.ts'
import { updateAt, updateAtCursor } from '../../service/updates/update-history.ts'
import { orThrow } from '../errors.ts'
import { outputInBatch } from './batch.ts'
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { dependsOn } from './dependence.ts'
import { OutputNode } from './output.ts'
import { pageCost } from './prices.ts'

/** Ledger updates, page by page and one by one. */

/** Why an update is filed under an address. */
export const UpdateClass = builder.enumType('UpdateClass', {
  description: 'Why an update is filed under an address.',
  values: {
    OWNED: { description: 'The address was the owner of the output in that milestone.' },
    MENTIONED: { description: 'The address had another role in the output.' },
  } as const,
})

/** The direction of a list. */
export const UpdateSort = builder.enumType('UpdateSort', {
  description: 'The direction of a list of updates.',
  values: {
    NEWEST: { description: 'The newest update first.' },
    OLDEST: { description: 'The oldest update first.' },
  } as const,
})

/** What an address is to an output. */
export const AddressRole = builder.enumType('AddressRole', {
  description: 'What an address is to an output.',
  values: {
    OWNER: {},
    STATE_CONTROLLER: {},
    GOVERNOR: {},
    STORAGE_DEPOSIT_RETURN: {},
    EXPIRATION_RETURN: {},
    SENDER: {},
    ISSUER: {},
    VALIDATOR: {},
    MULTI_MEMBER: { description: 'A member of a multi address that has a role.' },
    RESTRICTED_INNER: { description: 'The address inside a restricted one that has a role.' },
  } as const,
})

/** One row of the log. */
export const LedgerUpdate = builder.nodeRef<LedgerUpdateView>('LedgerUpdate', {
  id: { extensions: dependsOn('PARENT'), resolve: ({ cursor }) => cursor },
  loadOne: async (cursor, { services }) => await updateAtCursor(services, cursor),
})

LedgerUpdate.implement({
  extensions: dependsOn('PARENT'),
  description:
    'The creation or spending of an output, filed under one address. The log of updates only grows, in one order for all.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The position of this update in the log: page or follow after it.',
    }),
    seq: t.field({
      type: 'UInt64',
      description: 'The same position as a number: 1, 2, 3 … over all addresses.',
      resolve: (update) => BigInt(update.seq),
    }),
    ordinal: t.field({
      type: 'UInt64',
      description: 'The position among the updates of this address and class: 1, 2, 3 …',
      resolve: (update) => BigInt(update.ordinal),
    }),
    address: t.string({
      description: 'Bech32 text of the address, with the human-readable part of this network.',
      resolve: ({ address }, _args, { services }) =>
        addressText(services.parameters.bech32Hrp, address),
    }),
    class: t.expose('class', { type: UpdateClass }),
    roles: t.field({
      type: [AddressRole],
      description: 'What the address is to the output, all that apply.',
      resolve: (update) => [...update.roles],
    }),
    outputId: t.expose('outputId', { type: 'OutputId' }),
    isSpent: t.exposeBoolean('isSpent', {
      description: 'Whether this update spent the output; otherwise it created it.',
    }),
    milestoneIndex: t.expose('milestoneIndex', {
      type: 'UInt32',
      description: 'The committed slot that this update belongs to.',
    }),
    milestoneTimestamp: t.expose('milestoneTimestamp', {
      type: 'UInt32',
      description: 'The end of that slot, in Unix seconds.',
    }),
    milestoneEndedAt: t.field({
      type: 'DateTime',
      description: 'The end of that slot.',
      resolve: ({ milestoneTimestamp }) => milestoneTimestamp * 1_000,
    }),
    output: t.field({
      type: OutputNode,
      extensions: dependsOn('NOW'),
      description: 'The output, and what has become of it until now.',
      resolve: async ({ outputId }, _args, context) =>
        present(await outputInBatch(context, outputId), outputId),
    }),
    balance: t.field({
      type: 'UInt64',
      nullable: true,
      description:
        'All base tokens that the address owned at the end of the milestone; null in class MENTIONED.',
      resolve: ({ balance }) => balance,
    }),
    historyHash: t.expose('historyHash', {
      type: 'Hex',
      description:
        'SHA-256 over the former historyHash of this address and class, milestone index, output id and isSpent: two histories are equal when this is.',
    }),
  }),
})

const LedgerUpdateConnection = connection('LedgerUpdate', LedgerUpdate, {
  description: 'A page of the updates of an address (Relay connection).',
  pageInfoDescription:
    'Both directions are as they are in the list that startMilestoneIndex leaves.',
  dependsOn: 'PARENT',
  nodesOf: (page: LedgerUpdatePage) => page.updates,
  cursorOf: ({ cursor }) => cursor,
})

builder.objectFields(LedgerUpdateConnection, (t) => ({
  totalCount: t.field({
    type: 'UInt64',
    description: 'All updates of the address and class, whatever the other arguments.',
    resolve: async (page) => BigInt(await page.totalCount()),
  }),
  tipCursor: t.exposeString('tipCursor', {
    extensions: dependsOn('TIP'),
    description:
      'How far the log reached when this page was read: a subscription after it continues where this page ends, also for an address without updates.',
  }),
}))

builder.queryField('ledgerUpdates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    extensions: dependsOn('ADDRESS'),
    description:
      'The updates of an address. The arguments may be mixed: after and before cut first, then first, then last. Without first and last: the first 100; each is at most 1000.',
    complexity: pageCost,
    args: {
      address: t.arg.string({ required: true, description: 'Bech32, of this network.' }),
      first: t.arg.int(),
      after: t.arg.string({ description: 'A cursor; exclusive. Under NEWEST, after is older.' }),
      last: t.arg.int(),
      before: t.arg.string({ description: 'A cursor; exclusive. Under NEWEST, before is newer.' }),
      sort: t.arg({ type: UpdateSort, required: true, defaultValue: 'NEWEST' }),
      startMilestoneIndex: t.arg({
        type: 'UInt32',
        description:
          'The milestone at which the list begins, itself included, in either direction.',
      }),
      class: t.arg({ type: UpdateClass, required: true, defaultValue: 'OWNED' }),
    },
    resolve: async (_root, { address, ...page }, { services }) => {
      const key = orThrow(addressKeyOf(services.parameters.bech32Hrp, address, 'address'))
      return orThrow(await listLedgerUpdates(services, { ...page, address: key }))
    },
  }),
)

builder.queryField('ledgerUpdateAt', (t) =>
  t.field({
    type: LedgerUpdate,
    nullable: true,
    description:
      'The update of an address with an ordinal; its historyHash distinguishes two histories up to there. Null where there is none, or none that is still kept.',
    args: {
      address: t.arg.string({ required: true, description: 'Bech32, of this network.' }),
      ordinal: t.arg({ type: 'UInt64', required: true, description: '1, 2, 3 …' }),
      class: t.arg({ type: UpdateClass, required: true, defaultValue: 'OWNED' }),
    },
    resolve: async (_root, args, { services }) => {
      const address = orThrow(addressKeyOf(services.parameters.bech32Hrp, args.address, 'address'))
      return await updateAt(services, { ...args, address, ordinal: Number(args.ordinal) })
    },
  }),
)
