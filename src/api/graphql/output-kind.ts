import { BasicOutput } from '../../protocol/outputs.ts'
import { chainKinds } from '../../service/chains/read-chain.ts'
import { builder } from './builder.ts'

/** The kinds of outputs, by their type codes. */
export const OutputKind = builder.enumType('OutputKind', {
  description: 'The kinds of outputs.',
  values: {
    BASIC: {
      value: BasicOutput.code,
      description: 'Base tokens, mana, and at most one native token.',
    },
    ACCOUNT: { value: chainKinds.ACCOUNT, description: 'The state of an account.' },
    ANCHOR: { value: chainKinds.ANCHOR, description: 'The state of an anchor.' },
    FOUNDRY: {
      value: chainKinds.FOUNDRY,
      description: 'The state of a foundry, which mints a native token.',
    },
    NFT: { value: chainKinds.NFT, description: 'The state of an NFT.' },
    DELEGATION: {
      value: chainKinds.DELEGATION,
      description: 'Base tokens delegated to a validator.',
    },
  } as const,
})
