import {
  AccountAddress,
  type Address,
  AnchorAddress,
  Ed25519Address,
  ImplicitAccountCreationAddress,
  MultiAddress,
  NftAddress,
  RestrictedAddress,
} from '../../protocol/addresses.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import {
  type ManaOfAddress,
  type ManaSum,
  manaOfAddress,
  manaOutputLimit,
} from '../../service/addresses/mana-of-address.ts'
import {
  type AddressBalance,
  countUpdates,
  listNativeTokens,
  type NativeTokens,
  readTotalAt,
} from '../../service/addresses/read-address.ts'
import { listUnspentOutputs } from '../../service/lists/list-outputs.ts'
import { defaultPageSize } from '../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../errors.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { eachOf, uint64s } from './exposed.ts'
import { UpdateClass } from './ledger-updates.ts'
import { listConnection, oldestArgs, pageArgsOf } from './lists.ts'
import { balanceInBatch } from './loaders.ts'
import { AddressContent } from './model.ts'
import { fieldCost, pageCost } from './prices.ts'
import { UnspentOutputConnection } from './unspent-outputs.ts'

/** What an address owns. */

type AddressKindCode = Address['type']

/** Base tokens of an address. */
export const AddressBalanceType = builder.objectRef<AddressBalance>('AddressBalance').implement({
  description:
    'The base tokens of an address at the end of a milestone. The four parts add up to the total.',
  fields: (t) => ({
    milestoneIndex: t.expose('slot', { type: 'UInt32', description: 'The milestone.' }),
    total: t.field({
      type: 'UInt64',
      description: 'Everything that the address owns.',
      resolve: ({ available, timelocked, storageDeposit, expiring }) =>
        available + timelocked + storageDeposit + expiring,
    }),
    ...uint64s(t, {
      available: 'What is neither timelocked nor claimed by another address.',
      timelocked: 'Outputs whose timelock is not over.',
      storageDeposit: 'To be returned to others when the outputs are spent.',
      expiring:
        'Outputs that another address will own from a slot on. They may be spent, but for the last slots before.',
    }),
    outputCount: t.expose('outputs', {
      type: 'UInt64',
      description: 'How many unspent outputs hold it.',
    }),
  }),
})

/** A native token of an address. */
export const NativeTokenBalance = builder.objectRef<NativeTokens>('NativeTokenBalance').implement({
  description: 'A native token of an address. The three parts add up to the total.',
  fields: (t) => ({
    tokenId: t.expose('tokenId', { type: 'FoundryId', description: 'The foundry of the token.' }),
    total: t.field({
      type: 'UInt256',
      description: 'All that the address owns.',
      resolve: ({ balance }) => balance.available + balance.timelocked + balance.expiring,
    }),
    ...eachOf(
      {
        available: 'What is neither timelocked nor expires.',
        timelocked: 'In outputs whose timelock is not over.',
        expiring: 'In outputs that another address will own from a slot on.',
      },
      (name, description) =>
        t.field({ type: 'UInt256', description, resolve: ({ balance }) => balance[name] }),
    ),
  }),
})

const ManaSumType = builder.objectRef<ManaSum>('ManaSum').implement({
  description: 'The mana of some outputs.',
  fields: (t) => ({
    total: t.field({
      type: 'UInt64',
      description: 'Stored and potential mana.',
      resolve: ({ stored, potential }) => stored + potential,
    }),
    ...uint64s(t, {
      stored: 'What is left of the mana stored in them.',
      potential: 'What their base tokens have generated since they were created.',
      written: 'The stored mana as the outputs have it, not decayed.',
    }),
  }),
})

const ManaMissing = enumOf('ManaMissing', 'Why the mana of an address is not known.', {
  TOO_MANY_OUTPUTS: `It is computed from the unspent outputs, of up to ${manaOutputLimit} of them.`,
  LEDGER_MOVED: 'Milestones were committed faster than the outputs could be read; try again.',
})

const AddressMana = builder.objectRef<ManaOfAddress>('AddressMana').implement({
  description: 'The mana of an address, computed from its unspent outputs on request.',
  fields: (t) => ({
    milestoneIndex: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The milestone of the sums.',
      resolve: (mana) => ('slot' in mana ? mana.slot : null),
    }),
    total: t.field({
      type: ManaSumType,
      nullable: true,
      description: 'Of everything that the address owns; null with a reason.',
      resolve: (mana) => ('slot' in mana ? mana.total : null),
    }),
    available: t.field({
      type: ManaSumType,
      nullable: true,
      description: 'Of the outputs that neither a timelock nor an expiration concerns.',
      resolve: (mana) => ('slot' in mana ? mana.available : null),
    }),
    reason: t.field({
      type: ManaMissing,
      nullable: true,
      description: 'Why the sums are null; null when they are not.',
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
  description: 'The kinds of addresses, by what unlocks them.',
  values: {
    ED25519: { value: Ed25519Address.code, description: 'Held by a key.' },
    ACCOUNT: { value: AccountAddress.code, description: 'Held by an account.' },
    NFT: { value: NftAddress.code, description: 'Held by an NFT.' },
    ANCHOR: { value: AnchorAddress.code, description: 'Held by an anchor.' },
    IMPLICIT_ACCOUNT_CREATION: {
      value: ImplicitAccountCreationAddress.code,
      description: "A key's address whose basic outputs count as accounts to be.",
    },
    MULTI: { value: MultiAddress.code, description: 'Held by several addresses together.' },
    RESTRICTED: {
      value: RestrictedAddress.code,
      description: 'Held by another address, and with limits to what it may be sent.',
    },
  } as const,
})

AddressNode.implement({
  description:
    'An address and what it owns. Each field is read by itself, and names its milestone.',
  fields: (t) => ({
    bech32: t.string({
      description:
        'The address as text, with the human-readable part of this network. Of a multi address its reference.',
      resolve: ({ key }, _args, { services }) => addressText(services.parameters.bech32Hrp, key),
    }),
    kind: t.field({
      type: AddressKind,
      description: 'What unlocks it.',
      // The first byte of an address is its type code.
      resolve: ({ key }) => Number.parseInt(key.slice(2, 4), 16) as AddressKindCode,
    }),
    content: t.field({
      type: AddressContent,
      nullable: true,
      description: 'What it says; null of a multi address that is known by its reference alone.',
      resolve: (view) => view.content(),
    }),
    balance: t.field({
      type: AddressBalanceType,
      description: 'Its base tokens as of the newest milestone.',
      resolve: ({ key }, _args, context) => balanceInBatch(context, key),
    }),
    nativeTokens: t.field({
      type: NativeTokenConnection,
      description: 'Its native tokens, by id.',
      complexity: pageCost,
      args: pageArgsOf(defaultPageSize),
      resolve: async ({ key }, page, { services }) =>
        orThrow(await listNativeTokens(services, key, page)),
    }),
    mana: t.field({
      type: AddressMana,
      description: 'Its mana as of the newest milestone, or why it is not known.',
      complexity: fieldCost.mana,
      resolve: ({ key }, _args, { services, budget }) =>
        manaOfAddress(services, key, budget.signal),
    }),
    totalAt: t.field({
      type: 'UInt64',
      description: 'All base tokens that the address owned at the end of a milestone.',
      args: {
        milestoneIndex: t.arg({
          type: 'UInt32',
          required: true,
          description: 'The milestone at whose end it is asked for.',
        }),
      },
      resolve: async ({ key }, { milestoneIndex }, { services }) =>
        orThrow(await readTotalAt(services, key, milestoneIndex)),
    }),
    updateCount: t.field({
      type: 'UInt64',
      description: 'How many ledger updates are filed under the address.',
      args: {
        class: t.arg({
          type: UpdateClass,
          required: true,
          defaultValue: 'OWNED',
          description: 'Which updates are counted.',
        }),
      },
      resolve: ({ key }, args, { services }) => countUpdates(services, key, args.class),
    }),
  }),
})

builder.objectField(AddressNode, 'unspentOutputs', (t) =>
  t.field({
    type: UnspentOutputConnection,
    description: 'The outputs that the balance is made of.',
    complexity: pageCost,
    args: oldestArgs,
    resolve: async ({ key: heldBy }, page, { services }) =>
      orThrow(await listUnspentOutputs(services, { asOf: 'COMMITTED', heldBy }, page)),
  }),
)

builder.queryField('address', (t) =>
  t.field({
    type: AddressNode,
    nullable: true,
    description: 'An address; an unused one owns nothing.',
    args: { address: t.arg.string({ required: true, description: 'Bech32, of this network.' }) },
    resolve: (_root, { address }, { services }) =>
      viewOfKey(orThrow(addressKeyOf(services.parameters.bech32Hrp, address, 'address'))),
  }),
)
