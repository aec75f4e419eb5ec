import { readHealth } from '../../service/health.ts'
import { about, count, flag, object, word } from './openapi/shape.ts'
import { type Answer, json, type Route } from './route.ts'

/** Whether the gateway can do its work: 200 or 503, as the node says it (rest.md 4.1). */
export const health: Route = {
  method: 'GET',
  path: '/health',
  about: 'Whether the gateway can do its work, and what it is among those on its database.',
  answers: {
    200: standingAnswer('It can.'),
    503: standingAnswer('It cannot, or is about to stop.'),
  },
  errors: [],
  answer: async ({ isDraining }, services) => {
    const { isHealthy, role, term } = await readHealth(services)
    const healthy = !isDraining && isHealthy
    return json(healthy ? 200 : 503, { isHealthy: healthy, role: role.toLowerCase(), term })
  },
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
  return { about: sentence, json: object({ isHealthy: flag, role, term }) }
}
