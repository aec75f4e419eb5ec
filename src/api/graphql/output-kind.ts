import {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
} from '../../protocol/outputs.ts'
import { builder } from './builder.ts'

/** The kinds of outputs, by their type codes. */
export const OutputKind = builder.enumType('OutputKind', {
  description: 'The kinds of outputs.',
  values: {
    BASIC: {
      value: BasicOutput.code,
      description: 'Base tokens, mana, and at most one native token.',
    },
    ACCOUNT: { value: AccountOutput.code, description: 'The state of an account.' },
    ANCHOR: { value: AnchorOutput.code, description: 'The state of an anchor.' },
    FOUNDRY: {
      value: FoundryOutput.code,
      description: 'The state of a foundry, which mints a native token.',
    },
    NFT: { value: NftOutput.code, description: 'The state of an NFT.' },
    DELEGATION: {
      value: DelegationOutput.code,
      description: 'Base tokens delegated to a validator.',
    },
  } as const,
})
