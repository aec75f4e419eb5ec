import type { Network } from '../../protocol/network.ts'
import { builder } from './builder.ts'
import { ProtocolParametersType } from './model.ts'
import { free } from './prices.ts'

/** The network of this gateway. */

const NetworkType = builder.objectRef<Network>('Network').implement({
  description: 'A network: its parameters and what follows from them.',
  fields: (t) => ({
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
