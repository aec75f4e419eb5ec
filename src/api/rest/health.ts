import {
  type FollowingHealth,
  type Health,
  type NodeAnswerUnreadable,
  readHealth,
} from '../../service/network/health.ts'
import type { Services } from '../../service/services.ts'
import { messageOf } from '../errors.ts'
import { about, count, flag, object, optional, text, uint32, word } from './openapi/shape.ts'
import { type Answer, json, type RestRequest, type Route } from './route.ts'

const following = about(
  'In front of a node: how the following of its slots goes.',
  object({
    state: about(
      'On standby another process on the database follows; unreadable, a node answers what cannot be read; stopped, a node contradicted what is committed here.',
      word('standby', 'catching up', 'following', 'nodes away', 'unreadable', 'stopped'),
    ),
    committedSlot: about('The newest slot that is committed here.', uint32),
    newestSlot: optional(about('The newest slot of the node that can be followed.', uint32)),
    node: optional(about('The place of the node that was asked last in the list, from 1.', count)),
    isNodeHealthy: about('Whether that node says of itself that it keeps up.', flag),
    withProofs: about('Whether each output is held against its proof.', flag),
    contradiction: optional(
      about('Why the following stopped.', object({ code: text, message: text })),
    ),
    unreadable: optional(
      about(
        'What a node told that cannot be read.',
        object({
          code: text,
          message: text,
          slot: optional(about('The slot that it was told of.', uint32)),
          outputId: optional(about('The output that cannot be read.', text)),
        }),
      ),
    ),
  }),
)

/** The reasons of LEDGER_UNAVAILABLE, in words. */
const reasons = [
  ...['starting', 'clock behind', 'clock leapt', 'lease lost', 'closing'],
  ...['nodes away', 'node answer unreadable', 'node contradicted'],
] as const

/** Whether the gateway can do its work: 200 or 503, as the node says it (rest.md 4.1). */
export const health: Route = readiness(
  '/health',
  'The same as `/health/ready`, where clients of a node look for it.',
)

/** The same, where balancers look for it. */
export const ready: Route = readiness(
  '/health/ready',
  'Whether requests should be sent here: whether the gateway can do its work and is not about to stop, and what it is among those on its database.',
)

/** Whether the process should be left alone. */
export const live: Route = {
  method: 'GET',
  path: '/health/live',
  about:
    'Whether the process answers. It does so without its database and while it stops: to start it anew would mend neither.',
  answers: { 200: { about: 'It does.', json: object({ isLive: flag }) } },
  errors: [],
  answer: async () => json(200, { isLive: true }),
}

function readiness(path: string, about: string): Route {
  return {
    method: 'GET',
    path,
    about,
    answers: {
      200: standingAnswer('It can.'),
      503: standingAnswer('It cannot, or is about to stop.'),
    },
    errors: [],
    answer: async (request, services) => {
      const { isHealthy, reason, role, term, following } = await healthOf(request, services)
      return json(isHealthy ? 200 : 503, {
        isHealthy,
        ...(reason === undefined ? {} : { reason: inWords(reason) }),
        role: role.toLowerCase(),
        term,
        ...(following === undefined ? {} : { following: printFollowing(following) }),
      })
    },
  }
}

/** How the gateway is, as every route and GraphQL tell it: one that is about to stop is not healthy any more. */
export async function healthOf(
  { isStopping }: Pick<RestRequest, 'isStopping'>,
  services: Pick<Services, 'store' | 'source'>,
): Promise<Health> {
  const health = await readHealth(services)
  return { ...health, isHealthy: health.isHealthy && !isStopping }
}

function printFollowing({ state, contradiction, unreadable, ...rest }: FollowingHealth): object {
  const words = inWords(state)
  return {
    state: words,
    ...rest,
    ...(contradiction && {
      contradiction: { code: contradiction.code, message: messageOf(contradiction) },
    }),
    ...(unreadable && { unreadable: printUnreadable(unreadable) }),
  }
}

function printUnreadable(unreadable: NodeAnswerUnreadable): object {
  const { code, slot, outputId } = unreadable
  return { code, message: messageOf(unreadable), slot, outputId }
}

/** A code as words. */
function inWords(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}

/** Describes what a route about health answers. */
export function healthAnswer(about: string): Answer {
  return { about, json: object({ isHealthy: flag }) }
}

function standingAnswer(sentence: string): Answer {
  const role = about(
    'Whether it books and commits, or another process does.',
    word('writer', 'member'),
  )
  const term = about('Rises whenever another process takes over.', count)
  return {
    about: sentence,
    json: object({
      isHealthy: flag,
      reason: optional(about('Why no blocks are taken.', word(...reasons))),
      role,
      term,
      following: optional(following),
    }),
  }
}
