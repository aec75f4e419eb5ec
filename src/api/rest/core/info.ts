import { ok } from '../../../lib/result.ts'
import { IssuanceOffer, NodeInfo } from '../../../protocol/node-responses.ts'
import { baseToken } from '../../../service/network/base-token.ts'
import { readHealth } from '../../../service/network/health.ts'
import { issuance, nodeInfo } from '../../../service/network/node-info.ts'
import { listOf, object, text } from '../form.ts'
import { jsonReply, serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Routes that the official client reads before it builds a block (rest.md 4.4, ledger reference 14.2). */

export const infoRoute = readRoute({
  path: '/api/core/v3/info',
  about: 'Returns the state of the node and the parameters of its network.',
  reply: serialized('State and protocol parameters.', NodeInfo),
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

/** The references of a new block. */
export const issuanceRoute = readRoute({
  path: '/api/core/v3/blocks/issuance',
  about: 'Returns the parents and the commitment that a new block should refer to.',
  reply: serialized('The parents and the commitment.', IssuanceOffer),
  answer: async (_given, services) => {
    const offered = await issuance(services)
    if (!offered.ok) return offered
    return ok({ ...offered.value, weakParents: [], shallowLikeParents: [] })
  },
})

/** The route families, which clients read to find out what is available. */
export const routesRoute = readRoute({
  path: '/api/routes',
  about: 'Returns the route families that this gateway serves.',
  reply: jsonReply('The names of the route families.', object({ routes: listOf(text) })),
  answer: async () =>
    ok({ routes: ['core/v3', 'explorer/v2', 'explorer/v3', 'indexer/v2', 'mqtt/v2'] }),
})
