import { isHealthy } from '../../service/health.ts'
import { json, type Route } from './route.ts'

/** Whether the gateway can do its work: 200 or 503, as the node says it (rest.md 4.1). */
export const health: Route = {
  method: 'GET',
  path: '/health',
  query: [],
  answer: async (_request, services) => {
    const healthy = await isHealthy(services)
    return json(healthy ? 200 : 503, { isHealthy: healthy })
  },
}
