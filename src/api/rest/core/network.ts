import { ok } from '../../../lib/result.ts'
import { NetworkHealth, NetworkMetrics } from '../../../protocol/node-responses.ts'
import { networkMetrics } from '../../../service/network/network-metrics.ts'
import { asItIs } from '../form.ts'
import { healthRoute } from '../health.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Routes for the state of the network (rest.md 4.1). */

/** Whether slots are finalized in time. The response is always JSON, like that of a node. */
export const networkHealthRoute = healthRoute({
  path: '/api/core/v3/network/health',
  about: 'Returns whether slots are finalized in time.',
  form: asItIs(shapeOf(NetworkHealth)),
  described: { 200: 'Slots are finalized in time.', 503: 'Slots are not finalized in time.' },
  toAnswer: ({ isHealthy: isNetworkHealthy }) => ({ isNetworkHealthy }),
})

export const networkMetricsRoute = readRoute({
  path: '/api/core/v3/network/metrics',
  about: 'Returns the block rates of the network in its newest committed slots.',
  reply: serialized('The block rates.', NetworkMetrics),
  answer: async (_given, services) => ok(await networkMetrics(services)),
})
