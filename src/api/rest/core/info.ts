import { SlotCommitment } from '../../../protocol/commitment.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import { print } from '../../../protocol/schema/schema.ts'
import { issuance, nodeInfo } from '../../../service/node-info.ts'
import { json, type Route } from '../route.ts'

/** What the official client reads before it builds a block (rest.md 4.4, ledger reference 14.2). */

/** The state of the node, and the parameters of its network. */
export const infoRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/info',
  query: [],
  answer: async (_request, services) => {
    const info = nodeInfo(services)
    const committed = info.committedTime.toString()
    return json(200, {
      name: 'ledger-gateway',
      version: services.version,
      status: {
        isHealthy: info.isHealthy,
        isNetworkHealthy: info.isHealthy,
        acceptedTangleTime: committed,
        relativeAcceptedTangleTime: committed,
        confirmedTangleTime: committed,
        relativeConfirmedTangleTime: committed,
        latestCommitmentId: info.latestCommitmentId,
        latestFinalizedSlot: info.latestFinalizedSlot,
        latestAcceptedBlockSlot: info.slot,
        latestConfirmedBlockSlot: info.latestFinalizedSlot,
        pruningEpoch: 0,
      },
      protocolParameters: [
        { startEpoch: 0, parameters: print(ProtocolParameters, info.parameters) },
      ],
      baseToken: {
        name: 'Shimmer',
        tickerSymbol: 'SMR',
        unit: 'SMR',
        subunit: 'glow',
        decimals: 6,
      },
    })
  },
}

/** What a block issued now should refer to. */
export const issuanceRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/issuance',
  query: [],
  answer: async (_request, services) => {
    const offered = await issuance(services)
    return json(200, {
      strongParents: offered.strongParents,
      weakParents: [],
      shallowLikeParents: [],
      latestParentBlockIssuingTime: offered.latestParentBlockIssuingTime.toString(),
      latestFinalizedSlot: offered.latestFinalizedSlot,
      latestCommitment: print(SlotCommitment, offered.latestCommitment),
    })
  },
}

/** The families of routes that clients look for. */
export const routesRoute: Route = {
  method: 'GET',
  path: '/api/routes',
  query: [],
  answer: async () => json(200, { routes: ['core/v3', 'explorer/v2'] }),
}
