import type { AccountId } from '../../../protocol/primitives.ts'
import { listStakes, readStake } from '../../../service/accounts/list-stakes.ts'
import {
  type CommitteeOfEpoch,
  type EpochView,
  readCommitteeOf,
  readEpoch,
  type SeatView,
} from '../../../service/accounts/read-epoch.ts'
import type { StakeView } from '../../../service/accounts/validators.ts'
import { chainKinds } from '../../../service/chains/read-chain.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed, exposedOf, exposedOrNull } from '../declare.ts'
import { fieldCost, free, listCost, reads } from '../execution/prices.ts'
import { listArgs, listConnection, pageArgs } from '../lists.ts'
import { byIndex, byProtocolId } from '../load-node.ts'
import { accountField } from './account.ts'
import { chainsOf, DelegationConnection, validatorKeys } from './chain-lists.ts'

/** Validators, epochs and their committees. */

const ValidatorNode = builder.nodeRef<StakeView>('Validator', {
  id: { resolve: ({ entry }) => entry.accountId },
  loadOne: byProtocolId(32, async ({ services }, id: AccountId) =>
    orThrow(await readStake(services, id)),
  ),
})

ValidatorNode.implement({
  description: 'A validator: an account that stakes base tokens, as of the newest milestone.',
  fields: (t) => ({
    ...exposedOf(t, ({ entry }) => entry, 'AccountId', {
      accountId: 'The account id of the validator.',
    }),
    account: accountField(
      t,
      'The account of the validator. Null if the account is not known.',
      ({ entry }) => entry.accountId,
    ),
    ...exposed(t, 'UInt64', {
      poolStake:
        'The base tokens in the pool of the validator: its own stake and all delegations to it.',
    }),
    ...exposedOf(t, ({ entry }) => entry, 'UInt64', {
      validatorStake: 'The base tokens that the validator stakes itself.',
      delegationStake: 'The base tokens of all current delegations to the validator.',
      fixedCost:
        'The mana that the validator keeps from the reward of its pool before the rest is shared.',
    }),
    ...exposedOf(t, ({ entry }) => entry, 'UInt32', {
      stakeEndEpoch: 'The last epoch of the stake.',
      supportedVersion:
        'The highest protocol version named by the validation blocks of the validator, or 0 if there is none.',
    }),
    ...exposed(t, 'Boolean', {
      isCandidate:
        'Whether the validator announced its candidacy for the next committee, in the epoch of the newest milestone.',
    }),
    isInCommittee: t.exposeBoolean('isMember', {
      description:
        'Whether the validator is in the committee of the epoch of the newest milestone.',
    }),
    delegations: t.field({
      type: DelegationConnection,
      complexity: listCost,
      description:
        'A list of the delegations to the validator that have not ended, ordered by their latest change as of the newest milestone.',
      args: listArgs,
      resolve: ({ entry: { accountId } }, args, context) =>
        chainsOf(context, { kind: chainKinds.DELEGATION, keys: validatorKeys(accountId) }, args),
    }),
  }),
})

const ValidatorConnection = listConnection(
  'Validator',
  ValidatorNode,
  'A page of validators, the largest pool first.',
  { edgeDescription: 'A validator and its cursor.' },
)

const CommitteeMember = builder.objectRef<SeatView>('CommitteeMember').implement({
  description:
    'A validator in the committee of an epoch, with its stakes at the time of the selection.',
  fields: (t) => ({
    ...exposed(t, 'AccountId', { accountId: 'The account id of the validator.' }),
    account: accountField(
      t,
      'The account of the validator. Null if the account is not known.',
      ({ accountId }) => accountId,
    ),
    ...exposed(t, 'UInt64', {
      poolStake:
        'The base tokens in the pool of the validator: its own stake and all delegations to it.',
      validatorStake: 'The base tokens that the validator stakes itself.',
      fixedCost:
        'The mana that the validator keeps from the reward of its pool before the rest is shared.',
    }),
    ...exposedOrNull(t, 'UInt64', {
      poolReward:
        'The mana that the epoch paid to the pool, or 0 if the validator was inactive. Null until the epoch has ended, and in upstream mode.',
    }),
  }),
})

const Committee = builder.objectRef<CommitteeOfEpoch>('Committee').implement({
  description: 'The committee of an epoch, with its rewards.',
  fields: (t) => ({
    members: t.field({
      complexity: free,
      type: [CommitteeMember],
      description:
        'The members of the committee as they were chosen: the largest pool first, then the larger own stake. In upstream mode they are in the order of the node. Empty if they are not known.',
      resolve: ({ seats }) => [...seats],
    }),
    totalStake: t.field({
      type: 'UInt64',
      description: 'The sum of the base tokens in the pools of all members.',
      resolve: ({ seats }) => seats.reduce((sum, { poolStake }) => sum + poolStake, 0n),
    }),
    totalValidatorStake: t.field({
      type: 'UInt64',
      description: 'The sum of the base tokens that the members stake themselves.',
      resolve: ({ seats }) => seats.reduce((sum, { validatorStake }) => sum + validatorStake, 0n),
    }),
    ...exposedOrNull(t, 'UInt64', {
      targetReward:
        'The target reward of all members together, in mana. Null until the epoch has ended, if it paid nothing, and in upstream mode.',
    }),
  }),
})

const Epoch = builder.nodeRef<EpochView>('Epoch', {
  id: { resolve: ({ epoch }) => epoch },
  loadOne: byIndex(({ services }, index) => readEpoch(services, index)),
})

Epoch.implement({
  description: 'An epoch: a range of consecutive slots with one committee.',
  fields: (t) => ({
    index: t.expose('epoch', {
      type: 'UInt32',
      description: 'The index of the epoch, starting at 0.',
    }),
    ...exposed(t, 'UInt32', {
      firstSlot: 'The index of the first slot.',
      lastSlot: 'The index of the last slot.',
    }),
    ...exposed(t, 'Boolean', { isOver: 'Whether the last slot is committed.' }),
    committee: t.field({
      type: Committee,
      nullable: true,
      complexity: fieldCost.validators,
      description:
        'The committee of the epoch. Null with an error if an upstream node does not provide it.',
      resolve: async (epoch, _args, { services }) =>
        orThrow(await readCommitteeOf(services, epoch)),
    }),
    nextCommittee: t.field({
      type: Committee,
      nullable: true,
      complexity: fieldCost.validators,
      description:
        'The committee of the next epoch. Null until it is selected, shortly before the end of this epoch. Null with an error if an upstream node does not provide it.',
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
    description: 'The validator with the given account id. Null if the account does not stake.',
    args: {
      id: t.arg({
        type: 'AccountId',
        required: true,
        description: 'The account id of the validator.',
      }),
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
      'A list of validators, the largest pool first. In upstream mode, the list has only the validators that the node lists: those that announced their candidacy.',
    args: {
      ...pageArgs,
      epoch: t.arg({
        type: 'UInt32',
        description:
          'The index of an epoch: only validators that announced their candidacy in it are returned, with their current stakes. Not available in upstream mode.',
      }),
    },
    resolve: async (_root, { epoch, ...page }, { services }) =>
      orThrow(await listStakes(services, epoch ?? undefined, page)),
  }),
  epoch: t.field({
    type: Epoch,
    nullable: true,
    complexity: reads(2),
    description: 'The epoch with the given index. Null for a future epoch.',
    args: {
      index: t.arg({
        type: 'UInt32',
        description: 'The index of the epoch. Defaults to the epoch of the newest milestone.',
      }),
    },
    resolve: (_root, { index }, { services }) => readEpoch(services, index ?? undefined),
  }),
}))
