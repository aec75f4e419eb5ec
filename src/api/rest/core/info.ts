import { IssuanceOffer, NodeInfo } from '../../../protocol/node-answers.ts'
import { issuance, nodeInfo } from '../../../service/network/node-info.ts'
import { toRest } from '../../errors.ts'
import { healthOf } from '../health.ts'
import { listOf, object, text } from '../openapi/shape.ts'
import { json, type Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'

/** What the official client reads before it builds a block (rest.md 4.4, ledger reference 14.2). */

/** The state of the node, and the parameters of its network. */
export const infoRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/info',
  about: 'The state of the node, and the parameters of its network.',
  answers: { 200: answered('Everything a client must know first.', NodeInfo) },
  errors: [],
  answer: async (request, services) => {
    const { isHealthy } = await healthOf(request, services)
    const info = nodeInfo(services)
    return answerWith(request, NodeInfo, {
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
  about: 'What a block issued now should refer to.',
  answers: { 200: answered('Parents and a commitment.', IssuanceOffer) },
  errors: [],
  answer: async (request, services) => {
    const offered = await issuance(services)
    if (!offered.ok) return toRest(offered.error)
    return answerWith(request, IssuanceOffer, {
      ...offered.value,
      weakParents: [],
      shallowLikeParents: [],
    })
  },
}

/** The families of routes that clients look for. */
export const routesRoute: Route = {
  method: 'GET',
  path: '/api/routes',
  about: 'The families of routes that are served.',
  answers: { 200: { about: 'Their names.', json: object({ routes: listOf(text) }) } },
  errors: [],
  answer: async () =>
    json(200, { routes: ['core/v3', 'explorer/v2', 'explorer/v3', 'indexer/v2', 'mqtt/v2'] }),
}
