import type { Network } from '../../protocol/network.ts'
import { baseToken } from '../../service/network/base-token.ts'
import { builder } from './builder.ts'
import { ProtocolParametersType } from './model.ts'
import { free } from './prices.ts'

/** The network of this gateway. */

const BaseTokenType = builder.objectRef<typeof baseToken>('BaseToken').implement({
  description: 'The base token: its names, and how many of the smallest unit make one.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    tickerSymbol: t.exposeString('tickerSymbol', { description: 'Its symbol.' }),
    unit: t.exposeString('unit', { description: 'The name of the unit.' }),
    subunit: t.exposeString('subunit', {
      description: 'The name of the smallest unit, in which every amount is given.',
    }),
    decimals: t.exposeInt('decimals', {
      description: 'The unit is 10 to this power of the smallest unit.',
    }),
  }),
})

/** A network: its parameters and what follows from them. */
export const NetworkType = builder.objectRef<Network>('Network').implement({
  description: 'A network: its parameters and what follows from them.',
  fields: (t) => ({
    baseToken: t.field({
      type: BaseTokenType,
      complexity: free,
      description: 'The token that storage deposits and amounts are in.',
      resolve: () => baseToken,
    }),
    networkId: t.expose('id', {
      type: 'UInt64',
      description: 'First 8 bytes of the hash of its name; every block and transaction has it.',
    }),
    parameters: t.expose('parameters', {
      complexity: free,
      type: ProtocolParametersType,
      description: 'The protocol parameters in force.',
    }),
    parametersHash: t.expose('parametersHash', {
      type: 'Hex',
      description: 'Hash of the serialized parameters, 32 bytes.',
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
