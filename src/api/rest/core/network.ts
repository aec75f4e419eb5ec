import { ok } from '../../../lib/result.ts'
import { NetworkHealth, NetworkMetrics } from '../../../protocol/node-answers.ts'
import { networkMetrics } from '../../../service/network/network-metrics.ts'
import { asItIs } from '../form.ts'
import { healthRoute } from '../health.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The state of the network (rest.md 4.1). */

/** Whether slots are finalized in time; JSON alone, as the node answers it. */
export const networkHealthRoute = healthRoute({
  path: '/api/core/v3/network/health',
  about: 'Whether slots are finalized in time.',
  form: asItIs(shapeOf(NetworkHealth)),
  described: { 200: 'They are.', 503: 'They are not.' },
  toAnswer: ({ isHealthy: isNetworkHealthy }) => ({ isNetworkHealthy }),
})

/** How busy the network is. */
export const networkMetricsRoute = readRoute({
  path: '/api/core/v3/network/metrics',
  about: 'How busy the network was in its newest committed slots.',
  reply: serialized('Blocks by time.', NetworkMetrics),
  answer: async (_given, services) => ok(await networkMetrics(services)),
})
