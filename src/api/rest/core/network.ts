import { NetworkHealth, NetworkMetrics } from '../../../protocol/node-answers.ts'
import { print } from '../../../protocol/schema/schema.ts'
import { networkMetrics } from '../../../service/network/network-metrics.ts'
import { healthOf } from '../health.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { type Answer, json, type Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'

/** How the network is (rest.md 4.1). */

/** Whether slots are finalized in time. */
export const networkHealthRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/network/health',
  about: 'Whether slots are finalized in time.',
  answers: { 200: healthAnswer('They are.'), 503: healthAnswer('They are not.') },
  errors: [],
  answer: async (request, services) => {
    const { isHealthy: isNetworkHealthy } = await healthOf(request, services)
    return json(isNetworkHealthy ? 200 : 503, print(NetworkHealth, { isNetworkHealthy }))
  },
}

/** How busy the network is. */
export const networkMetricsRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/network/metrics',
  about: 'How busy the network was in its newest committed slots.',
  answers: { 200: answered('Blocks by time.', NetworkMetrics) },
  errors: [],
  answer: async (request, services) =>
    answerWith(request, NetworkMetrics, await networkMetrics(services)),
}

function healthAnswer(about: string): Answer {
  return { about, json: shapeOf(NetworkHealth) }
}
