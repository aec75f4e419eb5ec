import { present } from '../../../lib/assert.ts'
import { addressKeyOf } from '../../../service/addresses/address-key.ts'
import { addressText } from '../../../service/addresses/address-text.ts'
import {
  defaultPageSize,
  type LedgerUpdatePage,
  type LedgerUpdateView,
  listLedgerUpdates,
} from '../../../service/updates/list-ledger-updates.ts'
import { updateAt, updateAtCursor } from '../../../service/updates/update-history.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { connection } from '../connection.ts'
import { enumOf, exposed, exposedOrNull } from '../declare.ts'
import { dependsOn } from '../execution/dependence.ts'
import { pageCost, reads } from '../execution/prices.ts'
import { outputInBatch } from '../loaders.ts'
import { Sort } from '../sort.ts'
import { OutputNode } from './output.ts'

/** Ledger updates: single updates and pages. */

export const UpdateClass = enumOf(
  'UpdateClass',
  'The class of a ledger update: the reason why it is filed under an address.',
  {
    OWNED: 'The address owned the output in the milestone of the update.',
    MENTIONED: 'The address had another role in the output.',
  },
)

export const AddressRole = enumOf('AddressRole', 'The role of an address in an output.', {
  OWNER: 'The address can spend the output, until the expiration if there is one.',
  STATE_CONTROLLER: 'The address can change the state of the anchor.',
  GOVERNOR: 'The address governs the anchor.',
  STORAGE_DEPOSIT_RETURN: 'The address receives a part of the amount when the output is spent.',
  EXPIRATION_RETURN: 'The address owns the output after the expiration.',
  SENDER: 'The address is the sender that the output names.',
  ISSUER: 'The address issued the chain.',
  VALIDATOR: 'The address is the validator to which base tokens are delegated.',
  MULTI_MEMBER: 'The address is a member of a multi address that has a role.',
  RESTRICTED_INNER: 'The address is inside a restricted address that has a role.',
})

export const LedgerUpdate = builder.nodeRef<LedgerUpdateView>('LedgerUpdate', {
  id: { extensions: dependsOn('PARENT'), resolve: ({ cursor }) => cursor },
  loadOne: async (cursor, { services }) => await updateAtCursor(services, cursor),
})

LedgerUpdate.implement({
  extensions: dependsOn('PARENT'),
  description:
    'A ledger update: the creation or spending of an output, filed under one address. All updates form one log, to which new updates are appended.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      extensions: { isPlain: true },
      description:
        'The cursor of the update in the log. Lists and subscriptions can continue after it.',
    }),
    ...exposed(t, 'UInt64', {
      seq: 'The position of the update in the log over all addresses, starting at 1.',
      ordinal: 'The position of the update among those of its address and class, starting at 1.',
    }),
    address: t.string({
      description: 'The address as Bech32 text, with the human-readable part of this network.',
      resolve: ({ address }, _args, { services }) =>
        addressText(services.parameters.bech32Hrp, address),
    }),
    ...exposed(t, UpdateClass, { class: 'The class of the update.' }),
    ...exposed(t, [AddressRole], { roles: 'The roles of the address in the output.' }),
    ...exposed(t, 'OutputId', { outputId: 'The id of the output that was created or spent.' }),
    ...exposed(t, 'Boolean', {
      isSpent: 'Whether the update spent the output. Otherwise it created the output.',
    }),
  }),
})

builder.objectFields(LedgerUpdate, (t) => ({
  ...exposed(t, 'UInt32', {
    milestoneIndex: 'The index of the milestone that contains the update.',
    milestoneTimestamp: 'The end of the slot of that milestone, in Unix seconds.',
  }),
  milestoneEndedAt: t.field({
    type: 'DateTime',
    description: 'The end of the slot of the milestone.',
    resolve: ({ milestoneTimestamp }) => milestoneTimestamp * 1_000,
  }),
  output: t.field({
    complexity: reads(1),
    type: OutputNode,
    extensions: dependsOn('NOW'),
    description: 'The output in its current state.',
    resolve: ({ outputId }, _args, context) =>
      outputInBatch(context, outputId).then((output) => present(output, outputId)),
  }),
  ...exposedOrNull(t, 'UInt64', {
    balance:
      'The number of base tokens that the address owned at the end of the milestone, in the smallest unit. Null for the class MENTIONED.',
  }),
  ...exposed(t, 'Hex', {
    historyHash:
      'The SHA-256 hash of the previous historyHash of the address and class, the milestone index, the output id and isSpent. Two histories are equal if their hashes are equal.',
  }),
}))

export const LedgerUpdateConnection = connection<LedgerUpdateView, LedgerUpdatePage>(
  'LedgerUpdate',
  LedgerUpdate,
  {
    description:
      'A page of the ledger updates of an address or of all addresses (Relay connection).',
    pageInfoDescription:
      'The position of the page in the list, which begins at startMilestoneIndex if that is given.',
    dependsOn: 'PARENT',
  },
)

builder.objectFields(LedgerUpdateConnection, (t) => ({
  totalCount: t.field({
    type: 'UInt64',
    description:
      'The total number of updates of the address and class, or of the whole log. It does not depend on the other arguments, and includes pruned updates.',
    resolve: (page) => page.totalCount(),
  }),
  tipCursor: t.exposeString('tipCursor', {
    extensions: dependsOn('TIP'),
    description:
      'The cursor of the end of the log when the page was read. A subscription that starts after it continues where the list ended, even if the address has no updates.',
  }),
}))

/** The argument for the class of updates. */
export const updateClassArg = builder.args((t) => ({
  class: t.field({
    type: UpdateClass,
    required: true,
    defaultValue: 'OWNED',
    description: 'The class of the updates.',
  }),
}))

builder.queryField('ledgerUpdates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    extensions: dependsOn('ADDRESS'),
    description:
      'A list of the ledger updates of an address or of all addresses, in the order of the log. Paging arguments can be combined: after and before are applied before first, and first before last. The default is the first 100 updates.',
    complexity: pageCost,
    args: {
      address: t.arg.string({
        description:
          'The address as Bech32 text of this network. Without an address, the updates of all addresses and classes are returned.',
      }),
      first: t.arg.int({
        description: `The maximum number of updates from the beginning of the list, from 0 to 1000. Defaults to ${defaultPageSize} if last is not given.`,
      }),
      after: t.arg.string({
        description:
          'A cursor: only updates after it are returned. With sort NEWEST, these are older updates.',
      }),
      last: t.arg.int({
        description: 'The maximum number of updates from the end of the list, from 0 to 1000.',
      }),
      before: t.arg.string({
        description:
          'A cursor: only updates before it are returned. With sort NEWEST, these are newer updates.',
      }),
      sort: t.arg({
        type: Sort,
        required: true,
        defaultValue: 'NEWEST',
        description: 'The direction of the list: the newest or the oldest update first.',
      }),
      startMilestoneIndex: t.arg({
        type: 'UInt32',
        description:
          'The index of the milestone at which the list begins, inclusive, in either direction.',
      }),
      fromMilestone: t.arg({
        type: 'UInt32',
        description: 'The lowest milestone index of the list, inclusive, in either direction.',
      }),
      toMilestone: t.arg({
        type: 'UInt32',
        description: 'The highest milestone index of the list, inclusive, in either direction.',
      }),
      class: t.arg({
        type: UpdateClass,
        description:
          'The class of the updates. Defaults to OWNED. It requires an address, because the log has no index of classes.',
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
      'The ledger update of an address with the given ordinal. Its historyHash identifies the history up to it. Null if there is no such update or it has been pruned.',
    args: {
      address: t.arg.string({
        required: true,
        description: 'The address as Bech32 text of this network.',
      }),
      ordinal: t.arg({
        type: 'UInt64',
        required: true,
        description: 'The ordinal of the update, starting at 1.',
      }),
      ...updateClassArg,
    },
    resolve: async (_root, args, { services }) => {
      const address = orThrow(addressKeyOf(services.parameters.bech32Hrp, args.address, 'address'))
      return await updateAt(services, { ...args, address, ordinal: Number(args.ordinal) })
    },
  }),
)
