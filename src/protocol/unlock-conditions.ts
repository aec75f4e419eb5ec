import { AccountAddress, Address, ImplicitAccountCreationAddress } from './addresses.ts'
import { is } from './is.ts'
import { BaseToken, SlotIndex } from './primitives.ts'
import type { AnyVariant, Broken } from './schema/composites.ts'
import { list, restrictedUnion, variant } from './schema/declare.ts'
import { about, type Infer } from './schema/schema.ts'

/** The unlock conditions of outputs (codec reference 7). */

export const AddressUnlock = about(
  'address that may spend the output',
  variant('AddressUnlockCondition', 0, { address: about('the address to unlock', Address) }),
)
export interface AddressUnlock extends Infer<typeof AddressUnlock> {}

export const StorageDepositReturn = about(
  'requires that the transaction that spends the output returns an amount to the sender',
  variant(
    'StorageDepositReturnUnlockCondition',
    1,
    {
      returnAddress: about('address that receives the returned amount', Address),
      amount: about('base tokens to return', BaseToken),
    },
    { check: ({ returnAddress }) => notImplicit(returnAddress) },
  ),
)
export interface StorageDepositReturn extends Infer<typeof StorageDepositReturn> {}

export const Timelock = about(
  'keeps the output locked up to and including a slot',
  variant(
    'TimelockUnlockCondition',
    2,
    { slot: about('last slot in which the output is locked, above 0', SlotIndex) },
    { check: ({ slot }) => (slot === 0 ? { rule: 'UC_TIMELOCK_ZERO', at: ['slot'] } : undefined) },
  ),
)
export interface Timelock extends Infer<typeof Timelock> {}

export const Expiration = about(
  'transfers the output to the return address from a slot on',
  variant(
    'ExpirationUnlockCondition',
    3,
    {
      returnAddress: about('address that owns the output after the expiration', Address),
      slot: about('first slot in which the return address owns the output, above 0', SlotIndex),
    },
    {
      check: ({ returnAddress, slot }) =>
        notImplicit(returnAddress) ??
        (slot === 0 ? { rule: 'UC_EXPIRATION_ZERO', at: ['slot'] } : undefined),
    },
  ),
)
export interface Expiration extends Infer<typeof Expiration> {}

export const StateController = about(
  'address that may change the state of an anchor',
  variant('StateControllerAddressUnlockCondition', 4, {
    address: about('the address to unlock for a state transition', Address),
  }),
)
export interface StateController extends Infer<typeof StateController> {}

export const Governor = about(
  'address that governs an anchor',
  variant('GovernorAddressUnlockCondition', 5, {
    address: about('the address to unlock for a governance transition', Address),
  }),
)
export interface Governor extends Infer<typeof Governor> {}

export const ImmutableAccount = about(
  'the account that owns a foundry permanently',
  variant('ImmutableAccountAddressUnlockCondition', 6, {
    address: about(
      'the account to unlock',
      restrictedUnion(
        'Address',
        { family: () => Address.variants, rule: 'UC_IMMUTABLE_ACCOUNT_KIND' },
        AccountAddress,
      ),
    ),
  }),
)
export interface ImmutableAccount extends Infer<typeof ImmutableAccount> {}

export const allUnlockConditions = [
  AddressUnlock,
  StorageDepositReturn,
  Timelock,
  Expiration,
  StateController,
  Governor,
  ImmutableAccount,
] as const
export type UnlockCondition = Infer<(typeof allUnlockConditions)[number]>

/** The list of the unlock conditions of an output: only the allowed kinds, all required kinds, sorted by type. */
export function unlockConditions<V extends readonly AnyVariant[]>(
  required: readonly V[number][],
  ...allowed: V
) {
  const kinds = restrictedUnion(
    'UnlockCondition',
    {
      family: () => allUnlockConditions,
      rule: 'OUTPUT_UNLOCK_CONDITIONS_ALLOWED',
    },
    ...allowed,
  )
  return about(
    'conditions for spending the output: at most one of each kind, sorted by type',
    list<Infer<V[number]>>('u8', kinds, {
      max: 255,
      size: 'OUTPUT_UNLOCK_CONDITIONS_REQUIRED',
      order: { by: (a, b) => a.type - b.type, rule: 'OUTPUT_UNLOCK_CONDITIONS_ORDER' },
      every: {
        required: required.map(({ code }) => code),
        rule: 'OUTPUT_UNLOCK_CONDITIONS_REQUIRED',
      },
    }),
  )
}

function notImplicit(address: Address): Broken | undefined {
  return is(ImplicitAccountCreationAddress, address)
    ? { rule: 'UC_RETURN_ADDRESS', at: ['returnAddress'] }
    : undefined
}
