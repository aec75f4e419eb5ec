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
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { dependsOn } from './dependence.ts'
import { enumOf } from './enum-of.ts'
import { uint32s, uint64s } from './exposed.ts'
import { outputInBatch } from './loaders.ts'
import { OutputNode } from './output.ts'
import { free, pageCost, reads } from './prices.ts'
import { Sort } from './sort.ts'

/** Ledger updates, page by page and one by one. */

/** Why an update is filed under an address. */
export const UpdateClass = enumOf('UpdateClass', 'Why an update is filed under an address.', {
  OWNED: 'The address was the owner of the output in that milestone.',
  MENTIONED: 'The address had another role in the output.',
})

/** What an address is to an output. */
export const AddressRole = enumOf('AddressRole', 'What an address is to an output.', {
  OWNER: 'It may spend the output, until an expiration if there is one.',
  STATE_CONTROLLER: 'It changes the state of the anchor.',
  GOVERNOR: 'It governs the anchor.',
  STORAGE_DEPOSIT_RETURN: 'It is owed a part when the output is spent.',
  EXPIRATION_RETURN: 'It owns the output after the expiration.',
  SENDER: 'It is the sender that the output names.',
  ISSUER: 'It issued the chain.',
  VALIDATOR: 'It is the validator to whom base tokens are delegated.',
  MULTI_MEMBER: 'A member of a multi address that has a role.',
  RESTRICTED_INNER: 'The address inside a restricted one that has a role.',
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
      extensions: { isPlain: true },
      description: 'The position of this update in the log: page or follow after it.',
    }),
    ...uint64s(t, {
      seq: 'The same position as a number: 1, 2, 3 … over all addresses.',
      ordinal: 'The position among the updates of this address and class: 1, 2, 3 …',
    }),
    address: t.string({
      description: 'Bech32 text of the address, with the human-readable part of this network.',
      resolve: ({ address }, _args, { services }) =>
        addressText(services.parameters.bech32Hrp, address),
    }),
    class: t.expose('class', {
      type: UpdateClass,
      description: 'Why it is filed under the address.',
    }),
    roles: t.field({
      complexity: free,
      type: [AddressRole],
      description: 'What the address is to the output, all that apply.',
      resolve: (update) => [...update.roles],
    }),
    outputId: t.expose('outputId', {
      type: 'OutputId',
      description: 'The output that was created or spent.',
    }),
    isSpent: t.exposeBoolean('isSpent', {
      description: 'Whether this update spent the output; otherwise it created it.',
    }),
    ...uint32s(t, {
      milestoneIndex: 'The committed slot that this update belongs to.',
      milestoneTimestamp: 'The end of that slot, in Unix seconds.',
    }),
    milestoneEndedAt: t.field({
      type: 'DateTime',
      description: 'The end of that slot.',
      resolve: ({ milestoneTimestamp }) => milestoneTimestamp * 1_000,
    }),
    output: t.field({
      complexity: reads(1),
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

/** A page of updates. */
export const LedgerUpdateConnection = connection<LedgerUpdateView, LedgerUpdatePage>(
  'LedgerUpdate',
  LedgerUpdate,
  {
    description: 'A page of the updates of an address, or of all (Relay connection).',
    pageInfoDescription:
      'Both directions are as they are in the list that startMilestoneIndex leaves.',
    dependsOn: 'PARENT',
  },
)

builder.objectFields(LedgerUpdateConnection, (t) => ({
  totalCount: t.field({
    type: 'UInt64',
    description:
      'All updates of the address and class, or of the whole log, whatever the other arguments; also those that are no longer kept.',
    resolve: (page) => page.totalCount(),
  }),
  tipCursor: t.exposeString('tipCursor', {
    extensions: dependsOn('TIP'),
    description:
      'How far the log reached when this page was read: a subscription after it continues where this page ends, also for an address without updates.',
  }),
}))

/** Which of its updates are meant. */
export const updateClassArg = builder.args((t) => ({
  class: t.field({
    type: UpdateClass,
    required: true,
    defaultValue: 'OWNED',
    description: 'Whether it owned the outputs or had another role.',
  }),
}))

builder.queryField('ledgerUpdates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    extensions: dependsOn('ADDRESS'),
    description:
      'The updates of an address, or of all. The arguments may be mixed: after and before cut first, then first, then last. Without first and last: the first 100; each is at most 1000.',
    complexity: pageCost,
    args: {
      address: t.arg.string({
        description: 'Bech32, of this network; left out: the updates of all addresses and classes.',
      }),
      first: t.arg.int({ description: 'At most so many from the beginning, 0 to 1000.' }),
      after: t.arg.string({ description: 'A cursor; exclusive. Under NEWEST, after is older.' }),
      last: t.arg.int({ description: 'At most so many from the end, 0 to 1000.' }),
      before: t.arg.string({ description: 'A cursor; exclusive. Under NEWEST, before is newer.' }),
      sort: t.arg({
        type: Sort,
        required: true,
        defaultValue: 'NEWEST',
        description: 'Whether the newest or the oldest comes first.',
      }),
      startMilestoneIndex: t.arg({
        type: 'UInt32',
        description:
          'The milestone at which the list begins, itself included, in either direction.',
      }),
      fromMilestone: t.arg({
        type: 'UInt32',
        description: 'The first milestone of the list, in either direction.',
      }),
      toMilestone: t.arg({
        type: 'UInt32',
        description: 'The last milestone of the list, in either direction.',
      }),
      class: t.arg({
        type: UpdateClass,
        description:
          'By default OWNED. Not without an address, for the log has no index of a class.',
      }),
    },
    resolve: async (_root, { address, ...page }, { services }) => {
      const { bech32Hrp } = services.parameters
      const key = address == null ? undefined : orThrow(addressKeyOf(bech32Hrp, address, 'address'))
      return orThrow(await listLedgerUpdates(services, { ...page, address: key }))
    },
  }),
)

builder.queryField('ledgerUpdateAt', (t) =>
  t.field({
    complexity: reads(2),
    type: LedgerUpdate,
    nullable: true,
    description:
      'The update of an address with an ordinal; its historyHash distinguishes two histories up to there. Null where there is none, or none that is still kept.',
    args: {
      address: t.arg.string({ required: true, description: 'Bech32, of this network.' }),
      ordinal: t.arg({ type: 'UInt64', required: true, description: '1, 2, 3 …' }),
      ...updateClassArg,
    },
    resolve: async (_root, args, { services }) => {
      const address = orThrow(addressKeyOf(services.parameters.bech32Hrp, args.address, 'address'))
      return await updateAt(services, { ...args, address, ordinal: Number(args.ordinal) })
    },
  }),
)
