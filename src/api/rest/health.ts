import { inWords } from '../../lib/in-words.ts'
import { ok } from '../../lib/result.ts'
import {
  type FollowingHealth,
  type Health,
  healthReasonCodes,
  readHealth,
} from '../../service/network/health.ts'
import { messageOf } from '../errors/errors.ts'
import {
  about,
  count,
  type Form,
  flag,
  listOf,
  object,
  optional,
  printedBy,
  text,
  uint32,
} from './form.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute, route } from './route.ts'

/** The health routes. */

const following = about(
  'In upstream mode: how the gateway follows the slots of a node.',
  object({
    state: about(
      '`standby`: another process on the database follows the node. `unreadable`: a response of a node cannot be read. `stopped`: a node contradicted the committed ledger of this gateway.',
      codeAsWords('standby', 'catching up', 'following', 'nodes away', 'unreadable', 'stopped'),
    ),
    committedSlot: about('The newest slot that this gateway has committed.', uint32),
    newestSlot: optional(about('The newest slot of the node that can be followed.', uint32)),
    node: optional(about('Number of the last requested node in the list of nodes, from 1.', count)),
    isNodeHealthy: about('Whether this node reports itself as healthy.', flag),
    withProofs: about('Whether each output is verified by its proof.', flag),
    contradiction: optional(
      about(
        'The contradiction that stopped the gateway from following.',
        printedBy(withMessage, object({ code: text, message: text })),
      ),
    ),
    unreadable: optional(
      about(
        'The response of a node that cannot be read.',
        printedBy(
          withMessage,
          object({
            code: text,
            message: text,
            slot: optional(about('The slot of the response.', uint32)),
            outputId: optional(about('The output that cannot be read.', text)),
          }),
        ),
      ),
    ),
  }),
)

const starting = about(
  'Progress of a process that is about to write the ledger.',
  object({
    step: about(
      '`building tries`: the tries, from which commitments are computed, are built for a ledger that was imported or written by an earlier version.',
      codeAsWords('reading ledger', 'building tries', 'committing slots'),
    ),
    done: about('Number of outputs in the tries, or of committed slots.', count),
    of: about('Total number; 0 while it is unknown.', count),
  }),
)

const reason = codeAsWords(...healthReasonCodes.map(inWords))

const readinessForm = object({
  isHealthy: flag,
  reasons: about('Why the gateway cannot do its work; empty while it can.', listOf(reason)),
  reason: optional(about('The reason why no blocks are accepted.', reason)),
  role: about(
    'Whether this process writes the ledger or is a standby.',
    codeAsWords('writer', 'standby'),
  ),
  term: about(
    'Number of the leader term, which increases whenever another process takes over.',
    count,
  ),
  starting: optional(starting),
  following: optional(following),
})

/** Whether the gateway can do its work: 200 or 503, like a node (rest.md 4.1). */
export const health = readiness(
  '/health',
  'Returns the same as `/health/ready`, at the path that clients of a node use.',
)

/** The same route at the path that load balancers use. */
export const ready = readiness(
  '/health/ready',
  'Returns whether this process should receive requests: whether the gateway can do its work and is not about to stop. Also returns its role among the processes on its database.',
)

/** Whether the process runs, so that it needs no restart. */
export const live = readRoute({
  path: '/health/live',
  about:
    'Returns whether the process responds. It also responds without its database and while it stops, because a restart would help in neither case.',
  reply: jsonReply('The process responds.', object({ isLive: flag })),
  answer: async () => ok({ isLive: true }),
})

function readiness(path: string, about: string): Route {
  return healthRoute({
    path,
    about,
    form: readinessForm,
    described: {
      200: 'The gateway can do its work.',
      503: 'The gateway cannot do its work, or is about to stop.',
    },
    toAnswer: (health) => health,
  })
}

/** Creates a route that answers 200 while the gateway is healthy, and 503 otherwise. */
export function healthRoute<T>({
  form,
  described,
  toAnswer,
  ...description
}: {
  readonly path: string
  readonly about: string
  readonly form: Form<T>
  readonly described: { readonly 200: string; readonly 503: string }
  toAnswer(health: Health): T
}): Route {
  const replies = { 200: jsonReply(described[200], form), 503: jsonReply(described[503], form) }
  return route({
    ...description,
    method: 'GET',
    answers: replies,
    answer: async (_given, services, request) => {
      const health = await readHealth(services, request)
      const status = health.isHealthy ? 200 : 503
      return ok(replies[status].respond(request, toAnswer(health), { status }))
    },
  })
}

type Fault = NonNullable<FollowingHealth['contradiction'] | FollowingHealth['unreadable']>

function withMessage(fault: Fault) {
  return { ...fault, message: messageOf(fault) }
}

/** A code that is printed as lower-case words. */
function codeAsWords(...words: readonly string[]): Form<string> {
  return { shape: { type: 'string', enum: words }, print: inWords }
}
