import { BasicOutput } from '../../../protocol/outputs.ts'
import { chainKinds } from '../../../service/chains/read-chain.ts'
import { builder } from '../builder.ts'

/** The GraphQL enum of output kinds, by type code. */
export const OutputKind = builder.enumType('OutputKind', {
  description: 'The kind of an output.',
  values: {
    BASIC: {
      value: BasicOutput.code,
      description: 'An output with base tokens, mana and at most one native token.',
    },
    ACCOUNT: { value: chainKinds.ACCOUNT, description: 'A state of an account.' },
    ANCHOR: { value: chainKinds.ANCHOR, description: 'A state of an anchor.' },
    FOUNDRY: {
      value: chainKinds.FOUNDRY,
      description: 'A state of a foundry, which mints a native token.',
    },
    NFT: { value: chainKinds.NFT, description: 'A state of an NFT.' },
    DELEGATION: {
      value: chainKinds.DELEGATION,
      description: 'A state of a delegation of base tokens to a validator.',
    },
  } as const,
})
