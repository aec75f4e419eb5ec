import type { FieldRef } from '@pothos/core'
import type { AccountId } from '../../../protocol/primitives.ts'
import { type EntryView, readAccount, readEntry } from '../../../service/accounts/read-account.ts'
import { accountParts } from '../../../service/chains/chain-parts.ts'
import { type ChainView, chainKinds } from '../../../service/chains/read-chain.ts'
import { orThrow, toGraphQL } from '../../errors/errors.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { exposed, type FieldsOf, type Types } from '../declare.ts'
import { chainCost, free, reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { byProtocolId } from '../load-node.ts'
import { chainInBatch } from '../loaders.ts'
import { BlockIssuerType, StakingType } from '../model/model.ts'
import { Chain, chainIdField } from './chain.ts'

/** Accounts and their entries in the accounts ledger. */

const AccountEntryType = builder.objectRef<EntryView>('AccountEntry').implement({
  description:
    'The entry of an account in the accounts ledger at the end of a milestone. Accounts that can issue blocks or that stake have one.',
  fields: (t) => ({
    milestoneIndex: t.expose('asOf', {
      type: 'UInt32',
      description: 'The index of the milestone.',
    }),
    ...exposed(t, 'Int64', {
      credits:
        'The block issuance credits in mana, as of updatedSlot and without decay since then. An account with negative credits cannot issue blocks.',
    }),
    ...exposed(t, 'UInt32', {
      updatedSlot: 'The index of the slot in which the credits changed last.',
      expirySlot: 'The index of the last slot in which the account can issue blocks.',
      stakeEndEpoch: 'The last epoch of the stake, or 0 if the account does not stake.',
      supportedVersion:
        'The highest protocol version named by the validation blocks of the account, or 0 if there is none.',
    }),
    ...exposed(t, ['Hex'], {
      keyHashes:
        'The BLAKE2b-256 hashes of the Ed25519 public keys that can sign blocks of the account, sorted.',
    }),
    ...exposed(t, 'UInt64', {
      validatorStake: 'The base tokens that the account stakes itself.',
      delegationStake: 'The base tokens of all current delegations to the account.',
      fixedCost:
        'The mana that the account keeps from the reward of its pool before the rest is shared.',
    }),
    ...exposed(t, 'Hex', {
      supportedHash: 'The hash of the protocol parameters of supportedVersion, 32 bytes.',
    }),
  }),
})

export const AccountNode = builder.nodeRef<ChainView>('Account', {
  id: { resolve: ({ chainId }) => chainId },
  loadOne: byProtocolId(32, ({ services }, id: AccountId) => readAccount(services, id)),
})

AccountNode.implement({
  description: 'An account, which can issue blocks, stake and control foundries.',
  interfaces: [Chain],
  fields: (t) => ({
    accountId: chainIdField(t, 'AccountId', 'The id of the account.'),
    entry: t.field({
      type: AccountEntryType,
      nullable: true,
      complexity: reads(1),
      description:
        'The entry of the account in the accounts ledger at the end of a milestone. Null if the account could neither issue blocks nor stake then. Null with an error if the milestone is not committed, and in upstream mode.',
      args: {
        milestoneIndex: t.arg({
          type: 'UInt32',
          description: 'The index of the milestone. Defaults to the newest milestone.',
        }),
      },
      resolve: async (account, { milestoneIndex }, { services }) => {
        if (services.source.node === undefined) {
          return orThrow(await readEntry(services, account, milestoneIndex ?? undefined))
        }
        throw toGraphQL({
          code: 'NOT_OFFERED_BY_NODES',
          what: 'the entries of the accounts ledger',
        })
      },
    }),
  }),
})

builder.objectFields(AccountNode, (t) => ({
  foundryCounter: t.field({
    type: 'UInt32',
    description: 'The number of foundries that the account has created.',
    resolve: (account) => accountParts(account)?.foundryCounter ?? 0,
  }),
  blockIssuer: t.field({
    complexity: free,
    type: BlockIssuerType,
    nullable: true,
    description:
      'The keys that can sign blocks of the account, and their expiry. Null if the account cannot issue blocks.',
    resolve: (account) => accountParts(account)?.blockIssuer,
  }),
  staking: t.field({
    complexity: free,
    type: StakingType,
    nullable: true,
    description: 'The stake of the account as a validator. Null if the account does not stake.',
    resolve: (account) => accountParts(account)?.staking,
  }),
}))

/** Declares a field for the account with an id as of the newest milestone. It is null if the account is not known. */
export function accountField<Parent>(
  t: FieldsOf<Parent>,
  description: string,
  idOf: (parent: Parent) => AccountId,
): FieldRef<Types> {
  const resolve = async (parent: Parent, _args: object, context: GatewayContext) => {
    const chain = await chainInBatch(context, idOf(parent))
    return chain?.kind === chainKinds.ACCOUNT ? chain : undefined
  }
  const of = { type: AccountNode, nullable: true, complexity: chainCost }
  return t.field({ ...of, description, resolve } as never)
}

builder.queryField('account', (t) =>
  t.field({
    type: AccountNode,
    nullable: true,
    complexity: reads(3),
    description: 'The account with the given id, even if it is destroyed. Null if it is not known.',
    args: idArgs('AccountId', 'account'),
    resolve: (_root, { id }, { services }) => readAccount(services, id),
  }),
)
