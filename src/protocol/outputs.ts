import { AccountAddress, Address } from './addresses.ts'
import {
  BlockIssuer,
  features,
  Issuer,
  immutableFeatures,
  Metadata,
  NativeToken,
  Sender,
  Staking,
  StateMetadata,
  Tag,
} from './features.ts'
import { orListOfOne } from './json-aliases.ts'
import {
  AccountId,
  AnchorId,
  BaseToken,
  DelegationId,
  EpochIndex,
  Mana,
  NftId,
  u32,
  u256,
} from './primitives.ts'
import { restrictedUnion, union, variant } from './schema/declare.ts'
import { about, type Infer, type Schema } from './schema/schema.ts'
import {
  AddressUnlock,
  Expiration,
  Governor,
  ImmutableAccount,
  StateController,
  StorageDepositReturn,
  Timelock,
  unlockConditions,
} from './unlock-conditions.ts'

/** The six kinds of outputs (codec reference 6). */

const amount = about('base tokens of the output, in the smallest unit', BaseToken)
const mana = about('stored mana as of the creation slot', Mana)
const conditionsOfTransfer = unlockConditions(
  [AddressUnlock],
  AddressUnlock,
  StorageDepositReturn,
  Timelock,
  Expiration,
)

export const BasicOutput = about(
  'base tokens, mana and at most one kind of native tokens, owned by an address',
  variant('BasicOutput', 0, {
    amount,
    mana,
    unlockConditions: conditionsOfTransfer,
    features: features(Sender, Metadata, Tag, NativeToken),
  }),
)
export interface BasicOutput extends Infer<typeof BasicOutput> {}

export const AccountOutput = about(
  'an account, which may issue blocks, stake and own foundries',
  variant('AccountOutput', 1, {
    amount,
    mana,
    accountId: chainId(AccountId),
    foundryCounter: about('number of foundries the account has created', u32),
    unlockConditions: unlockConditions([AddressUnlock], AddressUnlock),
    features: features(Sender, Metadata, BlockIssuer, Staking),
    immutableFeatures: immutableFeatures(Issuer, Metadata),
  }),
)
export interface AccountOutput extends Infer<typeof AccountOutput> {}

export const AnchorOutput = about(
  'a chain with a state controller and a governor',
  variant('AnchorOutput', 2, {
    amount,
    mana,
    anchorId: chainId(AnchorId),
    stateIndex: about('number of state transitions so far', u32),
    unlockConditions: unlockConditions([StateController, Governor], StateController, Governor),
    features: features(Metadata, StateMetadata),
    immutableFeatures: immutableFeatures(Issuer, Metadata),
  }),
)
export interface AnchorOutput extends Infer<typeof AnchorOutput> {}

export const SimpleTokenScheme = about(
  'minted, melted and maximum number of the native tokens of a foundry',
  variant(
    'SimpleTokenScheme',
    0,
    {
      mintedTokens: about('tokens minted so far', u256),
      meltedTokens: about('tokens melted so far, at most the minted tokens', u256),
      maximumSupply: about('maximum of the minted minus the melted tokens, above 0', u256),
    },
    {
      check: ({ mintedTokens, meltedTokens, maximumSupply }) => {
        const sound = maximumSupply > 0n && meltedTokens <= mintedTokens
        const kept = sound && mintedTokens - meltedTokens <= maximumSupply
        return kept ? undefined : { rule: 'TOKEN_SCHEME_SUPPLY', at: [] }
      },
    },
  ),
)
export interface SimpleTokenScheme extends Infer<typeof SimpleTokenScheme> {}

export const FoundryOutput = about(
  'a foundry, with which an account mints and melts native tokens',
  variant('FoundryOutput', 3, {
    amount,
    serialNumber: about('number of the foundry within its account, above 0', u32),
    tokenScheme: about(
      'minted, melted and maximum number of the native tokens',
      orListOfOne(union('TokenScheme', SimpleTokenScheme)),
    ),
    unlockConditions: unlockConditions([ImmutableAccount], ImmutableAccount),
    features: features(Metadata, NativeToken),
    immutableFeatures: immutableFeatures(Metadata),
  }),
)
export interface FoundryOutput extends Infer<typeof FoundryOutput> {}

export const NftOutput = about(
  'a non-fungible token',
  variant('NFTOutput', 4, {
    amount,
    mana,
    nftId: chainId(NftId),
    unlockConditions: conditionsOfTransfer,
    features: features(Sender, Metadata, Tag),
    immutableFeatures: immutableFeatures(Issuer, Metadata),
  }),
)
export interface NftOutput extends Infer<typeof NftOutput> {}

export const DelegationOutput = about(
  'base tokens delegated to a validator',
  variant(
    'DelegationOutput',
    5,
    {
      amount,
      delegatedAmount: about(
        'base tokens that were delegated at the creation of the output',
        BaseToken,
      ),
      delegationId: chainId(DelegationId),
      validatorAddress: about(
        'the account of the validator',
        restrictedUnion(
          'Address',
          {
            family: () => Address.variants,
            rule: 'OUTPUT_DELEGATION_VALIDATOR_KIND',
          },
          AccountAddress,
        ),
      ),
      startEpoch: about('first epoch of the delegation', EpochIndex),
      endEpoch: about('last epoch of the delegation; 0 while the delegation is open', EpochIndex),
      unlockConditions: unlockConditions([AddressUnlock], AddressUnlock),
    },
    {
      check: ({ validatorAddress }) =>
        isZero(validatorAddress.accountId)
          ? { rule: 'OUTPUT_DELEGATION_VALIDATOR_ZERO', at: ['validatorAddress', 'accountId'] }
          : undefined,
    },
  ),
)
export interface DelegationOutput extends Infer<typeof DelegationOutput> {}

export const Output = union(
  'Output',
  BasicOutput,
  AccountOutput,
  AnchorOutput,
  FoundryOutput,
  NftOutput,
  DelegationOutput,
)
export type Output = Infer<typeof Output>

/** The type codes of all kinds of outputs. */
export const outputCodes = Output.variants.map(({ code }) => code)

/** A basic output whose only unlock condition is an address. */
export function plainOutput(address: Address, amount: bigint, mana: bigint): BasicOutput {
  return {
    type: BasicOutput.code,
    amount,
    mana,
    unlockConditions: [{ type: AddressUnlock.code, address }],
    features: [],
  }
}

/** The type code and the base tokens of a serialized output. All kinds begin with these, so the rest is not decoded. */
export function headOfOutput(bytes: Uint8Array): Pick<Output, 'type' | 'amount'> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { type: view.getUint8(0) as Output['type'], amount: view.getBigUint64(1, true) }
}

function chainId<T>(id: Schema<T>): Schema<T> {
  return about(
    'hash of the id of the output that created the chain; zero in that output itself',
    id,
  )
}

/** Whether an identifier is all zeros, which means that this transaction creates the chain. */
export function isZero(id: string): boolean {
  return /^0x0*$/.test(id)
}
