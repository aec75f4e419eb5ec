import type { FollowingHealth, Health } from '../../service/network/health.ts'
import { messageOf } from '../errors.ts'
import { healthOf } from '../rest/health.ts'
import { builder } from './builder.ts'

/** Whether the gateway can do its work. */

const FollowingState = builder.enumType('FollowingState', {
  description: 'How the following of a node goes.',
  values: {
    STANDBY: { description: 'Another process on the database follows.' },
    CATCHING_UP: { description: 'There are committed slots of the node that are not here yet.' },
    FOLLOWING: { description: 'What the node commits is here a moment later.' },
    NODES_AWAY: { description: 'No node answers, or none in a form that can be used.' },
    UNREADABLE: {
      description: 'A node answers, and what it tells of a slot cannot be read; it is asked again.',
    },
    STOPPED: {
      description:
        'A node contradicted what is committed here; nothing is followed until the gateway starts anew.',
    },
  } as const,
})

type Contradiction = NonNullable<FollowingHealth['contradiction']>

const NodeContradiction = builder.objectRef<Contradiction>('NodeContradiction').implement({
  description: 'What a node told that cannot be true beside what is committed here.',
  fields: (t) => ({
    code: t.string({ description: 'For programs.', resolve: ({ code }) => code }),
    message: t.string({ description: 'For people.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      description: 'The slot that it was told of.',
      resolve: ({ slot }) => slot,
    }),
  }),
})

type Unreadable = NonNullable<FollowingHealth['unreadable']>

const UnreadableAnswer = builder.objectRef<Unreadable>('UnreadableAnswer').implement({
  description: 'What a node told that cannot be read.',
  fields: (t) => ({
    code: t.string({ description: 'For programs.', resolve: ({ code }) => code }),
    message: t.string({ description: 'For people.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The slot that it was told of; null where it is about none.',
      resolve: ({ slot }) => slot,
    }),
    outputId: t.field({
      type: 'OutputId',
      nullable: true,
      description: 'The output that cannot be read; null where it is about none.',
      resolve: ({ outputId }) => outputId,
    }),
  }),
})

const Following = builder.objectRef<FollowingHealth>('Following').implement({
  description: 'How the following of a node goes, and how far it has come.',
  fields: (t) => ({
    state: t.expose('state', { type: FollowingState, description: 'How it goes.' }),
    committedSlot: t.expose('committedSlot', {
      type: 'UInt32',
      description: 'The newest slot that is committed here.',
    }),
    newestSlot: t.expose('newestSlot', {
      type: 'UInt32',
      nullable: true,
      description: 'The newest slot of the node that can be followed; null where none answers.',
    }),
    node: t.expose('node', {
      type: 'UInt32',
      nullable: true,
      description: 'The place of the node in the list, from 1; null where none answers.',
    }),
    isNodeHealthy: t.exposeBoolean('isNodeHealthy', {
      description: 'Whether that node says of itself that it keeps up.',
    }),
    withProofs: t.exposeBoolean('withProofs', {
      description: 'Whether each output is held against its proof.',
    }),
    contradiction: t.expose('contradiction', {
      type: NodeContradiction,
      nullable: true,
      description: 'Why it stopped; null otherwise.',
    }),
    unreadable: t.expose('unreadable', {
      type: UnreadableAnswer,
      nullable: true,
      description: 'What cannot be read; null while everything can.',
    }),
  }),
})

const GatewayRole = builder.enumType('GatewayRole', {
  description: 'What a gateway is among those on its database.',
  values: {
    WRITER: { description: 'It books the blocks and commits the slots.' },
    STANDBY: { description: 'Another one does, and this one takes over when that one ends.' },
  } as const,
})

const HealthType = builder.objectRef<Health>('Health').implement({
  description: 'Whether the gateway can do its work.',
  fields: (t) => ({
    isHealthy: t.exposeBoolean('isHealthy', {
      description:
        'Whether the database answers, the ledger keeps up, and the gateway is not about to stop.',
    }),
    role: t.expose('role', {
      type: GatewayRole,
      description: 'What it is among the gateways on its database.',
    }),
    term: t.expose('term', {
      type: 'UInt32',
      description: 'Rises whenever another process takes over.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description:
        'Why no blocks are taken, as the error LEDGER_UNAVAILABLE says it; null while they are.',
    }),
    following: t.expose('following', {
      type: Following,
      nullable: true,
      description: 'Of a gateway in front of a node; null where the ledger is inside.',
    }),
  }),
})

builder.queryField('health', (t) =>
  t.field({
    type: HealthType,
    description: 'Whether the gateway can do its work, and how it follows where it does.',
    resolve: (_root, _args, { services, isStopping }) => healthOf({ isStopping }, services),
  }),
)
