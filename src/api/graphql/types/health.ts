import {
  type FollowingHealth,
  type Health,
  healthReasons,
  readHealth,
} from '../../../service/network/health.ts'
import { messageOf } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed, exposedOrNull } from '../declare.ts'
import { reads } from '../execution/prices.ts'

/** The health of the gateway. */

const FollowingState = enumOf('FollowingState', 'The state of following a node.', {
  STANDBY: 'Another process on the database follows the node.',
  CATCHING_UP: 'The node has committed slots that the gateway has not stored yet.',
  FOLLOWING: 'The gateway stores each slot shortly after the node commits it.',
  NODES_AWAY: 'No node returns a usable response.',
  UNREADABLE: 'A response of a node about a slot cannot be read. The request is retried.',
  STOPPED:
    'A node contradicted data that the gateway has committed. The gateway does not follow until it is restarted.',
})

type Contradiction = NonNullable<FollowingHealth['contradiction']>

const NodeContradiction = builder.objectRef<Contradiction>('NodeContradiction').implement({
  description: 'A response of a node that contradicts data that the gateway has committed.',
  fields: (t) => ({
    ...exposed(t, 'String', { code: 'The error code.' }),
    message: t.string({ description: 'The error message.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      description: 'The index of the slot that the response is about.',
      resolve: ({ slot }) => slot,
    }),
  }),
})

type Unreadable = NonNullable<FollowingHealth['unreadable']>

const UnreadableAnswer = builder.objectRef<Unreadable>('UnreadableAnswer').implement({
  description: 'A response of a node that cannot be read.',
  fields: (t) => ({
    ...exposed(t, 'String', { code: 'The error code.' }),
    message: t.string({ description: 'The error message.', resolve: messageOf }),
    milestoneIndex: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The index of the slot that the response is about. Null if it is not about a slot.',
      resolve: ({ slot }) => slot,
    }),
    ...exposedOrNull(t, 'OutputId', {
      outputId:
        'The id of the output that cannot be read. Null if the response is not about an output.',
    }),
  }),
})

const Following = builder.objectRef<FollowingHealth>('Following').implement({
  description: 'The state of following a node, and its progress.',
  fields: (t) => ({
    ...exposed(t, FollowingState, { state: 'The current state.' }),
    ...exposed(t, 'UInt32', {
      committedSlot: 'The index of the newest slot that the gateway has committed.',
    }),
    ...exposedOrNull(t, 'UInt32', {
      newestSlot:
        'The index of the newest slot of the node that can be followed. Null if no node responds.',
      node: 'The position of the node in the configured list, starting at 1. Null if no node responds.',
    }),
    ...exposed(t, 'Boolean', {
      isNodeHealthy: 'Whether the node reports itself as healthy.',
      withProofs: 'Whether each output is checked against its proof.',
    }),
    ...exposedOrNull(t, NodeContradiction, {
      contradiction: 'The response that stopped the gateway from following. Null in other states.',
    }),
    ...exposedOrNull(t, UnreadableAnswer, {
      unreadable: 'The response that cannot be read. Null if all responses can be read.',
    }),
  }),
})

export const GatewayRole = enumOf(
  'GatewayRole',
  'The role of a gateway among the gateways on its database.',
  {
    WRITER: 'The gateway books blocks and commits slots.',
    STANDBY: 'Another gateway is the writer. This gateway takes over when the writer ends.',
  },
)

const StartingStep = enumOf(
  'StartingStep',
  'The step that a gateway has to complete before it writes the ledger.',
  {
    READING_LEDGER: 'The gateway reads the data that the next slot needs.',
    BUILDING_TRIES:
      'The gateway builds the tries from which commitments are computed. An imported ledger, or a ledger of an earlier version, has none.',
    COMMITTING_SLOTS: 'The gateway commits the slots that are due.',
  },
)

const StartingType = builder.objectRef<NonNullable<Health['starting']>>('Starting').implement({
  description: 'The progress of a gateway that is about to write the ledger.',
  fields: (t) => ({
    ...exposed(t, StartingStep, { step: 'The current step.' }),
    ...exposed(t, 'UInt32', {
      done: 'The number of completed items of the step: outputs in the tries, or committed slots.',
      of: 'The total number of items of the step, or 0 while it is not known.',
    }),
  }),
})

const HealthReason = enumOf(
  'HealthReason',
  'The reason why a gateway is not healthy.',
  healthReasons,
)

export const HealthType = builder.objectRef<Health>('Health').implement({
  description: 'The health of the gateway.',
  fields: (t) => ({
    ...exposed(t, 'Boolean', {
      isHealthy:
        'Whether the database responds, the ledger keeps up, and the gateway is not about to stop.',
    }),
    ...exposed(t, GatewayRole, {
      role: 'The role of the gateway among the gateways on its database.',
    }),
    ...exposed(t, 'UInt32', {
      term: 'The leader term. It increases whenever another process takes over.',
    }),
    ...exposed(t, [HealthReason], {
      reasons: 'The reasons why the gateway is not healthy. Empty if it is healthy.',
    }),
    ...exposedOrNull(t, 'String', {
      reason:
        'The reason why no blocks are accepted, as in the error LEDGER_UNAVAILABLE. Null while blocks are accepted.',
    }),
    ...exposedOrNull(t, StartingType, {
      starting:
        'The step that the gateway has to complete before it writes the ledger. Null if there is none.',
    }),
    ...exposedOrNull(t, Following, {
      following:
        'The state of following a node, in upstream mode. Null if the gateway writes the ledger itself.',
    }),
  }),
})

builder.queryField('health', (t) =>
  t.field({
    complexity: reads(1),
    type: HealthType,
    description: 'The health of the gateway. In upstream mode, it includes the state of following.',
    resolve: (_root, _args, { services, isStopping }) => readHealth(services, { isStopping }),
  }),
)
