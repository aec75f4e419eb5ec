import {
  AccountAddress,
  type Address,
  AnchorAddress,
  Ed25519Address,
  ImplicitAccountCreationAddress,
  MultiAddress,
  NftAddress,
  RestrictedAddress,
} from '../../../protocol/addresses.ts'
import { addressKeyOf } from '../../../service/addresses/address-key.ts'
import { addressText } from '../../../service/addresses/address-text.ts'
import {
  type ManaOfAddress,
  type ManaSum,
  manaOfAddress,
  manaOutputLimit,
} from '../../../service/addresses/mana-of-address.ts'
import {
  type AddressBalance,
  countUpdates,
  listNativeTokens,
  type OwnedTokens,
  readTotalAt,
} from '../../../service/addresses/read-address.ts'
import { listUnspentOutputs } from '../../../service/lists/list-outputs.ts'
import { defaultPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed, exposedOf } from '../declare.ts'
import { fieldCost, free, pageCost, reads } from '../execution/prices.ts'
import { listConnection, oldestArgs, pageArgsOf } from '../lists.ts'
import { balanceInBatch, multiAddressInBatch } from '../loaders.ts'
import { AddressContent } from '../model/model.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { UpdateClass } from './ledger-updates.ts'
import { milestoneIndexField } from './milestone.ts'
import { UnspentOutputConnection } from './unspent-outputs.ts'

/** Addresses and their holdings. */

type AddressKindCode = Address['type']

export const AddressBalanceType = builder.objectRef<AddressBalance>('AddressBalance').implement({
  description:
    'The base token balance of an address at the end of a milestone, in the smallest unit. The four parts add up to the total.',
  fields: (t) => ({
    milestoneIndex: milestoneIndexField(t),
    total: t.field({
      type: 'UInt64',
      description: 'The total number of base tokens that the address owns.',
      resolve: ({ available, timelocked, storageDeposit, expiring }) =>
        available + timelocked + storageDeposit + expiring,
    }),
    ...exposed(t, 'UInt64', {
      available: 'The base tokens that are neither timelocked nor claimed by another address.',
      timelocked: 'The base tokens in outputs whose timelock has not passed.',
      storageDeposit:
        'The base tokens that must be returned to other addresses when the outputs are spent.',
      expiring:
        'The base tokens in outputs that will belong to another address from a slot on. They can be spent, except in the last slots before that slot.',
    }),
    outputCount: t.expose('outputs', {
      type: 'UInt64',
      description: 'The number of unspent outputs that hold the balance.',
    }),
  }),
})

export const NativeTokenBalance = builder.objectRef<OwnedTokens>('NativeTokenBalance').implement({
  description: 'The balance of a native token of an address. The three parts add up to the total.',
  fields: (t) => ({
    ...exposed(t, 'FoundryId', {
      tokenId: 'The id of the token, which equals the id of its foundry.',
    }),
    total: t.field({
      type: 'UInt256',
      description: 'The total number of tokens that the address owns.',
      resolve: ({ balance }) => balance.available + balance.timelocked + balance.expiring,
    }),
    ...exposedOf(t, ({ balance }) => balance, 'UInt256', {
      available: 'The tokens that are neither timelocked nor expiring.',
      timelocked: 'The tokens in outputs whose timelock has not passed.',
      expiring: 'The tokens in outputs that will belong to another address from a slot on.',
    }),
  }),
})

const ManaSumType = builder.objectRef<ManaSum>('ManaSum').implement({
  description: 'The sum of the mana of a set of outputs.',
  fields: (t) => ({
    total: t.field({
      type: 'UInt64',
      description: 'The sum of stored and potential mana.',
      resolve: ({ stored, potential }) => stored + potential,
    }),
    ...exposed(t, 'UInt64', {
      stored: 'The stored mana of the outputs after decay.',
      potential:
        'The mana that the base tokens of the outputs have generated since their creation.',
      written: 'The stored mana as written in the outputs, before decay.',
    }),
  }),
})

const ManaMissing = enumOf('ManaMissing', 'The reason why the mana of an address is not known.', {
  TOO_MANY_OUTPUTS: `The address owns too many unspent outputs: mana is computed from at most ${manaOutputLimit}.`,
  LEDGER_MOVED: 'Milestones were committed faster than the outputs could be read. Try again.',
})

const AddressMana = builder.objectRef<ManaOfAddress>('AddressMana').implement({
  description: 'The mana of an address. It is computed from the unspent outputs on request.',
  fields: (t) => ({
    milestoneIndex: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The index of the milestone as of which mana is computed. Null if the mana is not known.',
      resolve: (mana) => ('slot' in mana ? mana.slot : null),
    }),
    total: t.field({
      complexity: free,
      type: ManaSumType,
      nullable: true,
      description: 'The mana of all outputs that the address owns. Null if the mana is not known.',
      resolve: (mana) => ('slot' in mana ? mana.total : null),
    }),
    available: t.field({
      complexity: free,
      type: ManaSumType,
      nullable: true,
      description:
        'The mana of the outputs without a pending timelock or expiration. Null if the mana is not known.',
      resolve: (mana) => ('slot' in mana ? mana.available : null),
    }),
    reason: t.field({
      type: ManaMissing,
      nullable: true,
      description: 'The reason why the mana is not known. Null if it is known.',
      resolve: (mana) => ('reason' in mana ? mana.reason : null),
    }),
  }),
})

const NativeTokenConnection = listConnection(
  'NativeToken',
  NativeTokenBalance,
  'A page of the native tokens of an address.',
)

const AddressKind = builder.enumType('AddressKind', {
  description: 'The kind of an address, which determines how its outputs are unlocked.',
  values: {
    ED25519: { value: Ed25519Address.code, description: 'An address of an Ed25519 key.' },
    ACCOUNT: { value: AccountAddress.code, description: 'An address of an account.' },
    NFT: { value: NftAddress.code, description: 'An address of an NFT.' },
    ANCHOR: { value: AnchorAddress.code, description: 'An address of an anchor.' },
    IMPLICIT_ACCOUNT_CREATION: {
      value: ImplicitAccountCreationAddress.code,
      description:
        'An address of an Ed25519 key whose basic outputs are implicit accounts, from which accounts can be created.',
    },
    MULTI: {
      value: MultiAddress.code,
      description: 'An address that several addresses control together.',
    },
    RESTRICTED: {
      value: RestrictedAddress.code,
      description: 'An address that wraps another address and restricts what it can receive.',
    },
  } as const,
})

AddressNode.implement({
  description:
    'An address and its holdings. The fields of a query are as of one milestone; balance and mana state it.',
  fields: (t) => ({
    bech32: t.string({
      description:
        'The address as Bech32 text, with the human-readable part of this network. The text of a multi address is that of its reference.',
      resolve: ({ key }, _args, { services }) => addressText(services.parameters.bech32Hrp, key),
    }),
    kind: t.field({
      type: AddressKind,
      description: 'The kind of the address.',
      // The first byte of an address is its type code.
      resolve: ({ key }) => Number.parseInt(key.slice(2, 4), 16) as AddressKindCode,
    }),
    content: t.field({
      complexity: reads(1),
      type: AddressContent,
      nullable: true,
      description:
        'The content of the address. Null for a multi address of which only the reference is known, because no unspent output contains it.',
      resolve: (view, _args, context) => view.content() ?? multiAddressInBatch(context, view.key),
    }),
  }),
})

builder.objectFields(AddressNode, (t) => ({
  balance: t.field({
    complexity: reads(1),
    type: AddressBalanceType,
    description: 'The base token balance of the address as of the newest milestone.',
    resolve: ({ key }, _args, context) => balanceInBatch(context, key),
  }),
  nativeTokens: t.field({
    type: NativeTokenConnection,
    description: 'A list of the native tokens of the address, ordered by token id.',
    complexity: pageCost,
    args: pageArgsOf(defaultPageSize),
    resolve: async ({ key }, page, { services }) =>
      orThrow(await listNativeTokens(services, key, page)),
  }),
  mana: t.field({
    type: AddressMana,
    description:
      'The mana of the address as of the newest milestone, or the reason why it is not known.',
    complexity: fieldCost.mana,
    resolve: ({ key }, _args, { services, budget }) => manaOfAddress(services, key, budget.signal),
  }),
  totalAt: t.field({
    complexity: reads(2),
    type: 'UInt64',
    nullable: true,
    description:
      'The total number of base tokens that the address owned at the end of a milestone, in the smallest unit. Null with an error if the milestone is not committed, and if it is before the last pruned update of the address.',
    args: {
      milestoneIndex: t.arg({
        type: 'UInt32',
        required: true,
        description: 'The index of the milestone.',
      }),
    },
    resolve: async ({ key }, { milestoneIndex }, { services }) =>
      orThrow(await readTotalAt(services, key, milestoneIndex)),
  }),
  updateCount: t.field({
    complexity: reads(1),
    type: 'UInt64',
    description: 'The number of ledger updates of the address in a class.',
    args: {
      class: t.arg({
        type: UpdateClass,
        required: true,
        defaultValue: 'OWNED',
        description: 'The class of the counted updates.',
      }),
    },
    resolve: ({ key }, args, { services }) => countUpdates(services, key, args.class),
  }),
}))

builder.objectField(AddressNode, 'unspentOutputs', (t) =>
  t.field({
    type: UnspentOutputConnection,
    description:
      'A list of the unspent outputs that make up the balance, ordered by the slot in which they were booked and then by id.',
    complexity: pageCost,
    args: oldestArgs,
    resolve: async ({ key: heldBy }, page, { services }) =>
      orThrow(await listUnspentOutputs(services, { asOf: 'COMMITTED', heldBy }, page)),
  }),
)

builder.queryField('address', (t) =>
  t.field({
    complexity: free,
    type: AddressNode,
    nullable: true,
    description: 'The address with the given Bech32 text. An unused address owns nothing.',
    args: {
      address: t.arg.string({
        required: true,
        description: 'The address as Bech32 text, with the human-readable part of this network.',
      }),
    },
    resolve: (_root, { address }, { services }) =>
      viewOfKey(orThrow(addressKeyOf(services.parameters.bech32Hrp, address, 'address'))),
  }),
)
