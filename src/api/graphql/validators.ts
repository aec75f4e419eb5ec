import type { AccountId } from '../../protocol/primitives.ts'
import { listStakes, readStake } from '../../service/accounts/list-stakes.ts'
import {
  type CommitteeOfEpoch,
  type EpochView,
  readCommitteeOf,
  readEpoch,
  type SeatView,
} from '../../service/accounts/read-epoch.ts'
import type { StakeView } from '../../service/accounts/validators.ts'
import { chainKinds } from '../../service/chains/read-chain.ts'
import { orThrow } from '../errors.ts'
import { AccountNode, accountInBatch } from './account.ts'
import { builder } from './builder.ts'
import { chainsOf, DelegationConnection, validatorKeys } from './chain-lists.ts'
import { eachOf, uint32s, uint64s } from './exposed.ts'
import { listArgs, listConnection, pageArgs } from './lists.ts'
import { byIndex, byProtocolId } from './load-node.ts'
import { fieldCost, free, listCost, reads } from './prices.ts'

/** Validators, epochs and their committees. */

const chainCost = reads(3)

const ValidatorNode = builder.nodeRef<StakeView>('Validator', {
  id: { resolve: ({ entry }) => entry.accountId },
  loadOne: byProtocolId(32, async ({ services }, id: AccountId) =>
    orThrow(await readStake(services, id)),
  ),
})

ValidatorNode.implement({
  description: 'An account that stakes, as of the newest milestone.',
  fields: (t) => ({
    accountId: t.field({
      type: 'AccountId',
      description: 'The id of the account.',
      resolve: ({ entry }) => entry.accountId,
    }),
    account: t.field({
      type: AccountNode,
      nullable: true,
      complexity: chainCost,
      description: 'The account.',
      resolve: ({ entry }, _args, context) => accountInBatch(context, entry.accountId),
    }),
    poolStake: t.expose('poolStake', {
      type: 'UInt64',
      description: 'Base tokens: its own stake and all delegations to it.',
    }),
    ...eachOf(
      {
        validatorStake: 'Base tokens that it stakes itself.',
        delegationStake: 'Base tokens of all delegations to it that go on.',
        fixedCost: 'Mana that it takes of the reward of its pool before sharing.',
      },
      (name, description) =>
        t.field({ type: 'UInt64', description, resolve: ({ entry }) => entry[name] }),
    ),
    stakeEndEpoch: t.field({
      type: 'UInt32',
      description: 'The last epoch of its stake.',
      resolve: ({ entry }) => entry.stakeEndEpoch,
    }),
    isCandidate: t.exposeBoolean('isCandidate', {
      description:
        'Whether it announced its candidacy for the next committee, in the epoch of the newest milestone.',
    }),
    isInCommittee: t.exposeBoolean('isMember', {
      description: 'Whether it is in the committee of the epoch of the newest milestone.',
    }),
    supportedVersion: t.field({
      type: 'UInt32',
      description:
        'The highest protocol version that its validation blocks have named; 0 for none.',
      resolve: ({ entry }) => entry.supportedVersion,
    }),
    delegations: t.field({
      type: DelegationConnection,
      complexity: listCost,
      description: 'The delegations to it that are not over.',
      args: listArgs,
      resolve: ({ entry: { accountId } }, args, context) =>
        chainsOf(context, { kind: chainKinds.DELEGATION, keys: validatorKeys(accountId) }, args),
    }),
  }),
})

const ValidatorConnection = listConnection(
  'Validator',
  ValidatorNode,
  'Accounts that stake, the largest pool first.',
  {
    edgeDescription: 'A validator and its cursor.',
  },
)

const CommitteeMember = builder.objectRef<SeatView>('CommitteeMember').implement({
  description: 'A validator in the committee of an epoch, with its stakes as of its choice.',
  fields: (t) => ({
    accountId: t.expose('accountId', {
      type: 'AccountId',
      description: 'The id of the account.',
    }),
    account: t.field({
      type: AccountNode,
      nullable: true,
      complexity: chainCost,
      description: 'The account.',
      resolve: ({ accountId }, _args, context) => accountInBatch(context, accountId),
    }),
    ...uint64s(t, {
      poolStake: 'Base tokens: its own stake and all delegations to it.',
      validatorStake: 'Base tokens of its own stake.',
      fixedCost: 'Mana that it takes of the reward of its pool before sharing.',
    }),
    poolReward: t.expose('poolReward', {
      type: 'UInt64',
      nullable: true,
      description:
        'Mana that the epoch paid to its pool, 0 where it did nothing; null until the epoch is over, and in upstream mode.',
    }),
  }),
})

const Committee = builder.objectRef<CommitteeOfEpoch>('Committee').implement({
  description: 'Who validates in an epoch, and what it pays.',
  fields: (t) => ({
    members: t.field({
      complexity: free,
      type: [CommitteeMember],
      description: 'Its validators; none where they are not known.',
      resolve: ({ seats }) => [...seats],
    }),
    totalStake: t.field({
      type: 'UInt64',
      description: 'Base tokens of all their pools.',
      resolve: ({ seats }) => seats.reduce((sum, { poolStake }) => sum + poolStake, 0n),
    }),
    totalValidatorStake: t.field({
      type: 'UInt64',
      description: 'Base tokens that they stake themselves.',
      resolve: ({ seats }) => seats.reduce((sum, { validatorStake }) => sum + validatorStake, 0n),
    }),
    targetReward: t.expose('targetReward', {
      type: 'UInt64',
      nullable: true,
      description:
        'Mana meant for all of them; null until the epoch is over, where it paid nothing, and in upstream mode.',
    }),
  }),
})

const Epoch = builder.nodeRef<EpochView>('Epoch', {
  id: { resolve: ({ epoch }) => epoch },
  loadOne: byIndex(({ services }, index) => readEpoch(services, index)),
})

Epoch.implement({
  description: 'An epoch: a run of slots with one committee.',
  fields: (t) => ({
    index: t.expose('epoch', { type: 'UInt32', description: 'Its number, from 0.' }),
    ...uint32s(t, {
      firstSlot: 'Its first slot.',
      lastSlot: 'Its last slot.',
    }),
    isOver: t.exposeBoolean('isOver', { description: 'Whether its last slot is committed.' }),
    committee: t.field({
      type: Committee,
      nullable: true,
      complexity: fieldCost.validators,
      description: 'Who validates in it.',
      resolve: async (epoch, _args, { services }) =>
        orThrow(await readCommitteeOf(services, epoch)),
    }),
    nextCommittee: t.field({
      type: Committee,
      nullable: true,
      complexity: fieldCost.validators,
      description:
        'Who validates in the epoch after it; null until they are chosen, a little before its end.',
      resolve: async ({ epoch }, _args, { services }) => {
        const next = orThrow(await readCommitteeOf(services, { epoch: epoch + 1 }))
        return next.seats.length === 0 ? null : next
      },
    }),
  }),
})

builder.queryFields((t) => ({
  validator: t.field({
    type: ValidatorNode,
    nullable: true,
    complexity: fieldCost.validators,
    description: 'An account that stakes; null where it stakes nothing.',
    args: {
      id: t.arg({ type: 'AccountId', required: true, description: 'The id of the account.' }),
    },
    resolve: async (_root, { id }, { services }) => orThrow(await readStake(services, id)),
  }),
  validators: t.field({
    type: ValidatorConnection,
    nullable: true,
    complexity: (args) => {
      const { field, multiplier } = listCost(args)
      return { field: field + fieldCost.validators.field, multiplier }
    },
    description:
      'The accounts that stake, the largest pool first. In upstream mode those that the node lists: who announced its candidacy.',
    args: {
      ...pageArgs,
      epoch: t.arg({
        type: 'UInt32',
        description:
          'Only those that announced their candidacy in this epoch, with their stakes of today. Not in upstream mode.',
      }),
    },
    resolve: async (_root, { epoch, ...page }, { services }) =>
      orThrow(await listStakes(services, epoch ?? undefined, page)),
  }),
  epoch: t.field({
    type: Epoch,
    nullable: true,
    complexity: reads(2),
    description: 'An epoch; null for one to come.',
    args: {
      index: t.arg({
        type: 'UInt32',
        description: 'Its number; left out: the epoch of the newest milestone.',
      }),
    },
    resolve: (_root, { index }, { services }) => readEpoch(services, index ?? undefined),
  }),
}))
