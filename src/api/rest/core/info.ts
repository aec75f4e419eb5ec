import { ok } from '../../../lib/result.ts'
import { IssuanceOffer, NodeInfo } from '../../../protocol/node-answers.ts'
import { baseToken } from '../../../service/network/base-token.ts'
import { readHealth } from '../../../service/network/health.ts'
import { issuance, nodeInfo } from '../../../service/network/node-info.ts'
import { listOf, object, text } from '../form.ts'
import { jsonReply, serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** What the official client reads before it builds a block (rest.md 4.4, ledger reference 14.2). */

/** The state of the node, and the parameters of its network. */
export const infoRoute = readRoute({
  path: '/api/core/v3/info',
  about: 'The state of the node, and the parameters of its network.',
  reply: serialized('Everything a client must know first.', NodeInfo),
  answer: async (_given, services, request) => {
    const { isHealthy } = await readHealth(services, request)
    const info = nodeInfo(services)
    return ok({
      name: 'ledger-gateway',
      version: services.version,
      status: {
        isHealthy,
        isNetworkHealthy: isHealthy,
        acceptedTangleTime: info.committedTime,
        relativeAcceptedTangleTime: info.committedTime,
        confirmedTangleTime: info.committedTime,
        relativeConfirmedTangleTime: info.committedTime,
        latestCommitmentId: info.latestCommitmentId,
        latestFinalizedSlot: info.latestFinalizedSlot,
        latestAcceptedBlockSlot: info.slot,
        latestConfirmedBlockSlot: info.latestFinalizedSlot,
        pruningEpoch: 0,
      },
      protocolParameters: [{ startEpoch: 0, parameters: info.parameters }],
      baseToken,
    })
  },
})

/** What a block issued now should refer to. */
export const issuanceRoute = readRoute({
  path: '/api/core/v3/blocks/issuance',
  about: 'What a block issued now should refer to.',
  reply: serialized('Parents and a commitment.', IssuanceOffer),
  answer: async (_given, services) => {
    const offered = await issuance(services)
    if (!offered.ok) return offered
    return ok({ ...offered.value, weakParents: [], shallowLikeParents: [] })
  },
})

/** The families of routes that clients look for. */
export const routesRoute = readRoute({
  path: '/api/routes',
  about: 'The families of routes that are served.',
  reply: jsonReply('Their names.', object({ routes: listOf(text) })),
  answer: async () =>
    ok({ routes: ['core/v3', 'explorer/v2', 'explorer/v3', 'indexer/v2', 'mqtt/v2'] }),
})
