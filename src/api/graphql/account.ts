import { AccountAddress } from '../../protocol/addresses.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { type AccountView, readAccount } from '../../service/accounts/read-account.ts'
import { orThrow, toGraphQL } from '../errors.ts'
import { AddressNode, viewOfAddress } from './address-node.ts'
import { builder } from './builder.ts'
import { protocolId } from './node-id.ts'
import { OutputNode } from './output.ts'

/** Accounts and their entries in the accounts ledger. */

type Entry = NonNullable<AccountView['entry']>

const AccountEntryType = builder.objectRef<Entry>('AccountEntry').implement({
  description: 'The entry in the accounts ledger of an account that may issue blocks or stakes.',
  fields: (t) => ({
    credits: t.expose('credits', {
      type: 'Int64',
      description:
        'Block issuance credits in mana, as of updatedSlot and not decayed since; an account in debt may not issue.',
    }),
    updatedSlot: t.expose('updatedSlot', {
      type: 'UInt32',
      description: 'The slot in which the credits changed last.',
    }),
    expirySlot: t.expose('expirySlot', {
      type: 'UInt32',
      description: 'The last slot in which it may issue blocks.',
    }),
    keyHashes: t.field({
      type: ['Hex'],
      description: 'BLAKE2b-256 of the Ed25519 public keys that may sign its blocks, sorted.',
      resolve: ({ keyHashes }) => [...keyHashes],
    }),
    validatorStake: t.expose('validatorStake', {
      type: 'UInt64',
      description: 'Base tokens that it stakes itself.',
    }),
    delegationStake: t.expose('delegationStake', {
      type: 'UInt64',
      description: 'Base tokens of all delegations to it that go on.',
    }),
    fixedCost: t.expose('fixedCost', {
      type: 'UInt64',
      description: 'Mana that it takes of the reward of its pool before sharing.',
    }),
    stakeEndEpoch: t.expose('stakeEndEpoch', {
      type: 'UInt32',
      description: 'The last epoch of its stake; 0 without one.',
    }),
    supportedVersion: t.expose('supportedVersion', {
      type: 'UInt32',
      description:
        'The highest protocol version that its validation blocks have named; 0 for none.',
    }),
    supportedHash: t.expose('supportedHash', {
      type: 'Hex',
      description: 'The hash of the parameters of that version.',
    }),
  }),
})

/** An account. */
export const AccountNode = builder.nodeRef<AccountView>('Account', {
  id: { resolve: ({ accountId }) => accountId },
  loadOne: async (id, { services }) => {
    const accountId = protocolId<AccountId>(id, 32)
    return accountId && orThrow(await readAccount(services, accountId, undefined))
  },
})

AccountNode.implement({
  description: 'An account.',
  fields: (t) => ({
    accountId: t.expose('accountId', { type: 'AccountId', description: 'The id of the account.' }),
    milestoneIndex: t.expose('slot', {
      type: 'UInt32',
      description: 'The milestone at whose end the entry has these values.',
    }),
    entry: t.field({
      type: AccountEntryType,
      nullable: true,
      description:
        'Null where it could neither issue blocks nor stake, and, with an error, in upstream mode.',
      resolve: ({ entry }, _args, { services }) => {
        if (services.source.node === undefined) return entry
        throw toGraphQL({
          code: 'NOT_OFFERED_BY_NODES',
          what: 'the entries of the accounts ledger',
        })
      },
    }),
    output: t.expose('output', {
      type: OutputNode,
      nullable: true,
      description:
        'The unspent output that it is as of the newest milestone; a basic one is an account to be. Null when it is destroyed.',
    }),
    address: t.field({
      type: AddressNode,
      description: 'The address of the account, and what it owns.',
      resolve: ({ accountId }) => viewOfAddress({ type: AccountAddress.code, accountId }),
    }),
  }),
})

builder.queryField('account', (t) =>
  t.field({
    type: AccountNode,
    nullable: true,
    description: 'An account; null when it is not known.',
    args: {
      id: t.arg({ type: 'AccountId', required: true }),
      milestoneIndex: t.arg({
        type: 'UInt32',
        description: 'The milestone at whose end the entry is asked for; left out: the newest.',
      }),
    },
    resolve: async (_root, { id, milestoneIndex }, { services }) =>
      orThrow(await readAccount(services, id, milestoneIndex ?? undefined)),
  }),
)
