import { isHealthy } from '../../service/health.ts'
import { flag, object } from './openapi/shape.ts'
import { type Answer, json, type Route } from './route.ts'

/** Whether the gateway can do its work: 200 or 503, as the node says it (rest.md 4.1). */
export const health: Route = {
  method: 'GET',
  path: '/health',
  about: 'Whether the gateway can do its work.',
  answers: { 200: healthAnswer('It can.'), 503: healthAnswer('It cannot, or is about to stop.') },
  errors: [],
  answer: async ({ isDraining }, services) => {
    const healthy = !isDraining && (await isHealthy(services))
    return json(healthy ? 200 : 503, { isHealthy: healthy })
  },
}

/** Describes what a route about health answers. */
export function healthAnswer(about: string): Answer {
  return { about, json: object({ isHealthy: flag }) }
}
