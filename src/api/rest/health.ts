import { ok } from '../../lib/result.ts'
import {
  type FollowingHealth,
  type Health,
  healthReasonCodes,
  readHealth,
} from '../../service/network/health.ts'
import { messageOf } from '../errors.ts'
import { inWords } from '../message-words.ts'
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

/** The routes about health. */

const following = about(
  'In upstream mode: the state of following the slots of a node.',
  object({
    state: about(
      'standby: another process on the database follows; unreadable: an answer of a node cannot be read; stopped: a node contradicted what is committed here.',
      codeAsWords('standby', 'catching up', 'following', 'nodes away', 'unreadable', 'stopped'),
    ),
    committedSlot: about('The newest slot that is committed here.', uint32),
    newestSlot: optional(about('The newest slot of the node that can be followed.', uint32)),
    node: optional(about('The number in the list, from 1, of the node asked last.', count)),
    isNodeHealthy: about('Whether that node reports itself as healthy.', flag),
    withProofs: about('Whether each output is checked against its proof.', flag),
    contradiction: optional(
      about(
        'Why the following stopped.',
        printedBy(withMessage, object({ code: text, message: text })),
      ),
    ),
    unreadable: optional(
      about(
        'The answer of a node that cannot be read.',
        printedBy(
          withMessage,
          object({
            code: text,
            message: text,
            slot: optional(about('The slot of that answer.', uint32)),
            outputId: optional(about('The output that cannot be read.', text)),
          }),
        ),
      ),
    ),
  }),
)

const starting = about(
  'Of a process that is about to write the ledger: what it waits for, and how far it is.',
  object({
    step: about(
      'building tries: a ledger that was kept by an earlier version or imported gets what its commitments are computed from.',
      codeAsWords('reading ledger', 'building tries', 'committing slots'),
    ),
    done: about('Outputs that are in the tries, or slots that are committed.', count),
    of: about('All of them; 0 while it is not known.', count),
  }),
)

const reason = codeAsWords(...healthReasonCodes.map(inWords))

const readinessForm = object({
  isHealthy: flag,
  reasons: about('Why it cannot do its work; none while it can.', listOf(reason)),
  reason: optional(about('The one of them for which no blocks are accepted.', reason)),
  role: about(
    'Whether this process writes the ledger, or stands by.',
    codeAsWords('writer', 'standby'),
  ),
  term: about('Rises whenever another process takes over.', count),
  starting: optional(starting),
  following: optional(following),
})

/** Whether the gateway can do its work: 200 or 503, as the node says it (rest.md 4.1). */
export const health = readiness(
  '/health',
  'The same as `/health/ready`, on the path that clients of a node use.',
)

/** The same, on the path that load balancers use. */
export const ready = readiness(
  '/health/ready',
  'Whether requests should be sent here: whether the gateway can do its work and is not about to stop, and its role among the processes on its database.',
)

/** Whether the process should be left alone. */
export const live = readRoute({
  path: '/health/live',
  about:
    'Whether the process answers. It does so without its database and while it stops: a restart would mend neither.',
  reply: jsonReply('It does.', object({ isLive: flag })),
  answer: async () => ok({ isLive: true }),
})

function readiness(path: string, about: string): Route {
  return healthRoute({
    path,
    about,
    form: readinessForm,
    described: { 200: 'It can.', 503: 'It cannot, or is about to stop.' },
    toAnswer: (health) => health,
  })
}

/** A route that answers 200 while the gateway is healthy, and 503 otherwise. */
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

/** A code, printed as lower-case words. */
function codeAsWords(...words: readonly string[]): Form<string> {
  return { shape: { type: 'string', enum: words }, print: inWords }
}
