import type { Network } from '../../../protocol/network.ts'
import { baseToken } from '../../../service/network/base-token.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { free } from '../execution/prices.ts'
import { ProtocolParametersType } from '../model/model.ts'

/** The network of this gateway. */

const BaseTokenType = builder.objectRef<typeof baseToken>('BaseToken').implement({
  description: 'The base token of a network, with the names of its units.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      name: 'The name of the base token.',
      tickerSymbol: 'The ticker symbol of the base token.',
      unit: 'The name of the unit.',
      subunit: 'The name of the smallest unit, which is the unit of all amounts.',
    }),
    ...exposed(t, 'Int', {
      decimals:
        'The number of decimal places of the unit: one unit is 10 to this power of the smallest unit.',
    }),
  }),
})

export const NetworkType = builder.objectRef<Network>('Network').implement({
  description: 'A network, with its protocol parameters.',
  fields: (t) => ({
    baseToken: t.field({
      type: BaseTokenType,
      complexity: free,
      description: 'The base token, in which amounts and storage deposits are denominated.',
      resolve: () => baseToken,
    }),
    networkId: t.expose('id', {
      type: 'UInt64',
      description:
        'The id of the network: the first 8 bytes of the hash of its name. Every block and transaction contains it.',
    }),
    ...exposed(t, ProtocolParametersType, { parameters: 'The current protocol parameters.' }),
    ...exposed(t, 'Hex', {
      parametersHash: 'The hash of the serialized protocol parameters, 32 bytes.',
    }),
  }),
})

builder.queryField('network', (t) =>
  t.field({
    complexity: free,
    type: NetworkType,
    description: 'The network of this gateway.',
    resolve: (_root, _args, { services }) => services.source.network,
  }),
)
