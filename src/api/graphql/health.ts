import {
  type FollowingHealth,
  type Health,
  healthReasons,
  readHealth,
} from '../../service/network/health.ts'
import { messageOf } from '../errors.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { free, reads } from './prices.ts'

/** Whether the gateway can do its work. */

const FollowingState = enumOf('FollowingState', 'The state of following a node.', {
  STANDBY: 'Another process on the database follows.',
  CATCHING_UP: 'There are committed slots of the node that are not here yet.',
  FOLLOWING: 'Each slot that the node commits is here a moment later.',
  NODES_AWAY: 'No node answers, or none in a form that can be used.',
  UNREADABLE: 'An answer of a node about a slot cannot be read; the request is repeated.',
  STOPPED:
    'A node contradicted what is committed here; the gateway follows no more until it is restarted.',
})

type Contradiction = NonNullable<FollowingHealth['contradiction']>

const NodeContradiction = builder.objectRef<Contradiction>('NodeContradiction').implement({
  description: 'An answer of a node that contradicts what is committed here.',
  fields: (t) => ({
    code: t.string({ description: 'For programs.', resolve: ({ code }) => code }),
    message: t.string({ description: 'For people.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      description: 'The slot of the answer.',
      resolve: ({ slot }) => slot,
    }),
  }),
})

type Unreadable = NonNullable<FollowingHealth['unreadable']>

const UnreadableAnswer = builder.objectRef<Unreadable>('UnreadableAnswer').implement({
  description: 'An answer of a node that cannot be read.',
  fields: (t) => ({
    code: t.string({ description: 'For programs.', resolve: ({ code }) => code }),
    message: t.string({ description: 'For people.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The slot of the answer; null where it has none.',
      resolve: ({ slot }) => slot,
    }),
    outputId: t.field({
      type: 'OutputId',
      nullable: true,
      description: 'The output that cannot be read; null where the answer is not about one.',
      resolve: ({ outputId }) => outputId,
    }),
  }),
})

const Following = builder.objectRef<FollowingHealth>('Following').implement({
  description: 'The state of following a node, and its progress.',
  fields: (t) => ({
    state: t.expose('state', { type: FollowingState, description: 'The state.' }),
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
      description: 'The number of the node in the list, from 1; null where none answers.',
    }),
    isNodeHealthy: t.exposeBoolean('isNodeHealthy', {
      description: 'Whether that node reports itself as healthy.',
    }),
    withProofs: t.exposeBoolean('withProofs', {
      description: 'Whether each output is checked against its proof.',
    }),
    contradiction: t.expose('contradiction', {
      complexity: free,
      type: NodeContradiction,
      nullable: true,
      description: 'Why it stopped; null otherwise.',
    }),
    unreadable: t.expose('unreadable', {
      complexity: free,
      type: UnreadableAnswer,
      nullable: true,
      description: 'What cannot be read; null while everything can.',
    }),
  }),
})

/** The role of a gateway among those on its database. */
export const GatewayRole = enumOf(
  'GatewayRole',
  'The role of a gateway among those on its database.',
  {
    WRITER: 'It books the blocks and commits the slots.',
    STANDBY: 'Another one does; this one takes over when that one ends.',
  },
)

const StartingStep = builder.enumType('StartingStep', {
  description: 'What a gateway waits for before it writes the ledger.',
  values: {
    READING_LEDGER: { description: 'It reads what the next slot needs.' },
    BUILDING_TRIES: {
      description:
        'A ledger that was kept by an earlier version or imported gets what its commitments are computed from.',
    },
    COMMITTING_SLOTS: { description: 'It commits the slots that are due.' },
  } as const,
})

const StartingType = builder.objectRef<NonNullable<Health['starting']>>('Starting').implement({
  description: 'What a gateway that is about to write the ledger waits for, and how far it is.',
  fields: (t) => ({
    step: t.expose('step', { type: StartingStep, description: 'What it waits for.' }),
    done: t.expose('done', {
      type: 'UInt32',
      description: 'Outputs that are in the tries, or slots that are committed.',
    }),
    of: t.expose('of', {
      type: 'UInt32',
      description: 'All of them; 0 while it is not known.',
    }),
  }),
})

const HealthReason = enumOf(
  'HealthReason',
  'Why a gateway cannot do its work, or is about to stop.',
  healthReasons,
)

/** Whether the gateway can do its work. */
export const HealthType = builder.objectRef<Health>('Health').implement({
  description: 'Whether the gateway can do its work.',
  fields: (t) => ({
    isHealthy: t.exposeBoolean('isHealthy', {
      description:
        'Whether the database answers, the ledger keeps up, and the gateway is not about to stop.',
    }),
    role: t.expose('role', {
      type: GatewayRole,
      description: 'Its role among the gateways on its database.',
    }),
    term: t.expose('term', {
      type: 'UInt32',
      description: 'Rises whenever another process takes over.',
    }),
    reasons: t.expose('reasons', {
      complexity: free,
      type: [HealthReason],
      description: 'Why it cannot do its work; none while it can.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description:
        'The one of them for which no blocks are accepted, as LEDGER_UNAVAILABLE has it; null while they are.',
    }),
    starting: t.expose('starting', {
      complexity: free,
      type: StartingType,
      nullable: true,
      description:
        'What it waits for before it writes the ledger; null where it waits for nothing.',
    }),
    following: t.expose('following', {
      complexity: free,
      type: Following,
      nullable: true,
      description: 'In upstream mode; null where the gateway keeps the ledger itself.',
    }),
  }),
})

builder.queryField('health', (t) =>
  t.field({
    complexity: reads(1),
    type: HealthType,
    description: 'Whether the gateway can do its work, and in upstream mode how it follows.',
    resolve: (_root, _args, { services, isStopping }) => readHealth(services, { isStopping }),
  }),
)
