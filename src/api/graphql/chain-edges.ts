import { present } from '../../lib/assert.ts'
import type { ManaRewardsView } from '../../service/accounts/mana-rewards.ts'
import { accountOf } from '../../service/accounts/read-account.ts'
import { readRewards } from '../../service/chains/delegation-reward.ts'
import { type ChainView, chainOfAddress } from '../../service/chains/read-chain.ts'
import { orThrow } from '../errors.ts'
import { AccountNode, accountInBatch } from './account.ts'
import { AddressNode } from './address-node.ts'
import { BlockNode } from './block.ts'
import { builder } from './builder.ts'
import { Chain } from './chain.ts'
import { DelegationNode } from './chain-kinds.ts'
import { uint32s } from './exposed.ts'
import { createLoader } from './loader.ts'
import { chainInBatch } from './loaders.ts'
import { fieldCost, reads } from './prices.ts'

/** From addresses, blocks and delegations to chains and what they earn. */

const chainCost = reads(3)

builder.objectField(AddressNode, 'chain', (t) =>
  t.field({
    type: Chain,
    nullable: true,
    complexity: chainCost,
    description:
      'The account, anchor or NFT whose address this is, also when it is destroyed; null for other addresses, and where it is not known.',
    resolve: async ({ key }, _args, context) => {
      const name = chainOfAddress(key)
      if (name === undefined) return null
      const chain = await chainInBatch(context, name.chainId)
      return chain?.kind === name.kind ? (accountOf(chain) ?? chain) : null
    },
  }),
)

builder.objectField(BlockNode, 'issuer', (t) =>
  t.field({
    type: AccountNode,
    nullable: true,
    complexity: chainCost,
    description: 'The issuing account; null where it is not known.',
    resolve: ({ issuerId }, _args, context) => accountInBatch(context, issuerId),
  }),
)

const DelegationReward = builder.objectRef<ManaRewardsView>('DelegationReward').implement({
  description: 'What a delegation would earn if it were claimed in the newest milestone.',
  fields: (t) => ({
    mana: t.expose('rewards', { type: 'UInt64', description: 'Mana, as far as it has decayed.' }),
    ...uint32s(t, {
      startEpoch: 'The first epoch that it earned something for.',
      endEpoch: 'The last epoch that it earned something for.',
    }),
  }),
})

const rewardInBatch = createLoader(({ services }, delegations: readonly ChainView[]) =>
  readRewards(services, delegations),
)

builder.objectField(DelegationNode, 'reward', (t) =>
  t.field({
    type: DelegationReward,
    nullable: true,
    // The epochs since it began, with the rewards of all their validators.
    complexity: fieldCost.proof,
    description:
      'What it has earned and not claimed; null once it is spent, and, with an error, where an upstream node does not give it.',
    resolve: async (chain, _args, context) =>
      orThrow(present(await rewardInBatch(context, chain), 'a reward')),
  }),
)
