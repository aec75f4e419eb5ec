import { present } from '../../../lib/assert.ts'
import type { ManaRewardsView } from '../../../service/accounts/mana-rewards.ts'
import { readRewards } from '../../../service/chains/delegation-reward.ts'
import { type ChainView, chainOfAddress } from '../../../service/chains/read-chain.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { chainCost, fieldCost } from '../execution/prices.ts'
import { createLoader } from '../loader.ts'
import { chainInBatch } from '../loaders.ts'
import { accountField } from './account.ts'
import { AddressNode } from './address-node.ts'
import { BlockNode } from './block.ts'
import { Chain } from './chain.ts'
import { DelegationNode } from './chain-kinds.ts'

/** Fields from addresses and blocks to chains, and the rewards of delegations. */

builder.objectField(AddressNode, 'chain', (t) =>
  t.field({
    type: Chain,
    nullable: true,
    complexity: chainCost,
    description:
      'The account, anchor or NFT that the address belongs to, even if it is destroyed. Null for other addresses, and if the chain is not known.',
    resolve: async ({ key }, _args, context) => {
      const name = chainOfAddress(key)
      if (name === undefined) return null
      const chain = await chainInBatch(context, name.chainId)
      return chain?.kind === name.kind ? chain : null
    },
  }),
)

builder.objectField(BlockNode, 'issuer', (t) =>
  accountField(
    t,
    'The account that issued the block. Null if the account is not known.',
    ({ issuerId }) => issuerId,
  ),
)

const DelegationReward = builder.objectRef<ManaRewardsView>('DelegationReward').implement({
  description: 'The reward that a delegation would pay if it were claimed in the newest milestone.',
  fields: (t) => ({
    mana: t.expose('rewards', {
      type: 'UInt64',
      description: 'The reward in mana, after decay.',
    }),
    ...exposed(t, 'UInt32', {
      startEpoch: 'The first epoch with a reward.',
      endEpoch: 'The last epoch with a reward.',
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
    // Reads the epochs since the start of the delegation, with the rewards of all their validators.
    complexity: fieldCost.proof,
    description:
      'The reward that the delegation has earned and not claimed. Null if the delegation is spent. Null with an error if an upstream node does not provide it.',
    resolve: async (chain, _args, context) =>
      orThrow(present(await rewardInBatch(context, chain), 'a reward')),
  }),
)
