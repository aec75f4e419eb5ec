import type { AccountId } from '../../protocol/primitives.ts'
import {
  type AccountView,
  accountOf,
  readAccount,
  readEntry,
} from '../../service/accounts/read-account.ts'
import { accountParts } from '../../service/chains/chain-parts.ts'
import { orThrow, toGraphQL } from '../errors.ts'
import { builder, type GatewayContext } from './builder.ts'
import { Chain } from './chain.ts'
import { uint32s, uint64s } from './exposed.ts'
import { byProtocolId } from './load-node.ts'
import { chainInBatch } from './loaders.ts'
import { BlockIssuerType, StakingType } from './model.ts'
import { free, reads } from './prices.ts'

/** Accounts and their entries in the accounts ledger. */

type Entry = NonNullable<Awaited<ReturnType<typeof readEntry>>>

const AccountEntryType = builder.objectRef<Entry>('AccountEntry').implement({
  description: 'The entry in the accounts ledger of an account that may issue blocks or stakes.',
  fields: (t) => ({
    credits: t.expose('credits', {
      type: 'Int64',
      description:
        'Block issuance credits in mana, as of updatedSlot and not decayed since; an account in debt may not issue.',
    }),
    ...uint32s(t, {
      updatedSlot: 'The slot in which the credits changed last.',
      expirySlot: 'The last slot in which it may issue blocks.',
    }),
    keyHashes: t.field({
      complexity: free,
      type: ['Hex'],
      description: 'BLAKE2b-256 of the Ed25519 public keys that may sign its blocks, sorted.',
      resolve: ({ keyHashes }) => [...keyHashes],
    }),
    ...uint64s(t, {
      validatorStake: 'Base tokens that it stakes itself.',
      delegationStake: 'Base tokens of all delegations to it that go on.',
      fixedCost: 'Mana that it takes of the reward of its pool before sharing.',
    }),
    ...uint32s(t, {
      stakeEndEpoch: 'The last epoch of its stake; 0 without one.',
      supportedVersion:
        'The highest protocol version that its validation blocks have named; 0 for none.',
    }),
    supportedHash: t.expose('supportedHash', {
      type: 'Hex',
      description: 'The hash of the parameters of that version.',
    }),
  }),
})

/** An account. */
export const AccountNode = builder.nodeRef<AccountView>('Account', {
  id: { resolve: ({ chainId }) => chainId },
  loadOne: byProtocolId(32, async ({ services }, id: AccountId) =>
    orThrow(await readAccount(services, id, undefined)),
  ),
})

AccountNode.implement({
  description: 'An account.',
  interfaces: [Chain],
  fields: (t) => ({
    accountId: t.field({
      type: 'AccountId',
      description: 'The id of the account.',
      resolve: ({ chainId }) => chainId as AccountId,
    }),
    milestoneIndex: t.expose('asOf', {
      type: 'UInt32',
      description: 'The milestone at whose end the entry has these values.',
    }),
    entry: t.field({
      type: AccountEntryType,
      nullable: true,
      complexity: reads(1),
      description:
        'Null where it could neither issue blocks nor stake, and, with an error, in upstream mode.',
      resolve: (account, _args, { services }) => {
        if (services.source.node === undefined) return readEntry(services, account)
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
    description: 'How many foundries it has created.',
    resolve: (account) => accountParts(account)?.foundryCounter ?? 0,
  }),
  blockIssuer: t.field({
    complexity: free,
    type: BlockIssuerType,
    nullable: true,
    description: 'The keys that may sign its blocks, and until when; null where it issues none.',
    resolve: (account) => accountParts(account)?.blockIssuer,
  }),
  staking: t.field({
    complexity: free,
    type: StakingType,
    nullable: true,
    description: 'What it stakes as a validator; null where it stakes nothing.',
    resolve: (account) => accountParts(account)?.staking,
  }),
}))

/** An account as of the newest milestone, read with all others that an answer asks for at the same time. */
export async function accountInBatch(
  context: GatewayContext,
  accountId: AccountId,
): Promise<AccountView | undefined> {
  const chain = await chainInBatch(context, accountId)
  return chain === undefined ? undefined : accountOf(chain)
}

builder.queryField('account', (t) =>
  t.field({
    type: AccountNode,
    nullable: true,
    complexity: reads(3),
    description: 'An account, also one that is destroyed; null when it is not known.',
    args: {
      id: t.arg({ type: 'AccountId', required: true, description: 'Its id.' }),
      milestoneIndex: t.arg({
        type: 'UInt32',
        description: 'The milestone at whose end the entry is asked for; left out: the newest.',
      }),
    },
    resolve: async (_root, { id, milestoneIndex }, { services }) =>
      orThrow(await readAccount(services, id, milestoneIndex ?? undefined)),
  }),
)
