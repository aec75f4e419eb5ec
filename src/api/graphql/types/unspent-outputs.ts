import { err, ok, type Result } from '../../../lib/result.ts'
import { type AddressError, addressKeyOf } from '../../../service/addresses/address-key.ts'
import {
  type FilterAddressCount,
  listUnspentOutputs,
  maxFilterAddresses,
  type UnspentConditions,
} from '../../../service/lists/list-outputs.ts'
import { unlockableBy } from '../../../service/outputs/find-outputs.ts'
import type { Services } from '../../../service/services.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { pageCost } from '../execution/prices.ts'
import { type InputFields, listConnection, oldestArgs } from '../lists.ts'
import { AddressRole } from './ledger-updates.ts'
import { OutputNode } from './output.ts'
import { OutputKind } from './output-kind.ts'

/** Unspent outputs by their content. */

const AddressInRole = builder.inputType('AddressInRole', {
  description: 'An address and the role that it must have in an output.',
  fields: (t) => ({
    role: t.field({
      type: AddressRole,
      required: true,
      description: 'The role of the address in the output.',
    }),
    address: t.string({
      required: true,
      description: 'The address as Bech32 text of this network.',
    }),
  }),
})

/** Returns the input fields for conditions on unspent outputs. */
export function conditionFields(t: InputFields) {
  return {
    heldBy: t.string({
      description:
        'The owner as of the newest milestone, as Bech32 text. The owner of an expired output is the return address.',
    }),
    unlockableBy: t.string({
      description:
        'An address that can unlock the output now or after an expiration, as Bech32 text. It cannot be combined with heldBy.',
    }),
    addresses: t.field({
      type: [AddressInRole],
      description: `The addresses that the output must name, with their roles: at most ${maxFilterAddresses}.`,
    }),
    tag: t.field({ type: 'Hex', description: 'The complete tag.' }),
    chainId: t.field({
      type: 'Hex',
      description: 'The id of an account, anchor, foundry, NFT or delegation.',
    }),
    nativeToken: t.field({
      type: 'FoundryId',
      description: 'The id of the native token that the output holds.',
    }),
    hasNativeToken: t.boolean({ description: 'Whether the output holds native tokens.' }),
    hasStorageDepositReturn: t.boolean({
      description: 'Whether a part of the amount must be returned when the output is spent.',
    }),
    hasTimelock: t.boolean({
      description: 'Whether the output has a timelock, even if it has passed.',
    }),
    timelockedBefore: t.field({
      type: 'UInt32',
      description: 'A slot index: the timelock must end in an earlier slot.',
    }),
    timelockedAfter: t.field({
      type: 'UInt32',
      description: 'A slot index: the timelock must end in a later slot.',
    }),
    hasExpiration: t.boolean({
      description: 'Whether the output has an expiration, even if it has passed.',
    }),
    expiresBefore: t.field({
      type: 'UInt32',
      description: 'A slot index: the output must expire in an earlier slot.',
    }),
    expiresAfter: t.field({
      type: 'UInt32',
      description: 'A slot index: the output must expire in a later slot.',
    }),
  }
}

const UnspentOutputFilter = builder.inputType('UnspentOutputFilter', {
  description:
    'Conditions on unspent outputs. An output must meet all of them. Slots given as bounds are exclusive.',
  fields: (t) => ({
    kinds: t.field({ type: [OutputKind], description: 'The allowed kinds of outputs.' }),
    ...conditionFields(t),
    createdBefore: t.field({
      type: 'UInt32',
      description: 'A slot index: the output must be booked in an earlier slot.',
    }),
    createdAfter: t.field({
      type: 'UInt32',
      description: 'A slot index: the output must be booked in a later slot.',
    }),
    committed: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'Whether the list is as of the newest milestone. Otherwise it is the current state, which includes transactions that no milestone contains yet.',
    }),
  }),
})

type FilterInput = typeof UnspentOutputFilter.$inferInput
type ConditionInput = Omit<FilterInput, 'committed' | 'kinds' | 'createdAfter' | 'createdBefore'>
type Filter = Parameters<typeof listUnspentOutputs>[1]
type Key = NonNullable<Filter['keys']>[number]
type ConditionError = AddressError | FilterAddressCount

export const UnspentOutputConnection = listConnection(
  'UnspentOutput',
  OutputNode,
  'A page of unspent outputs, ordered by the slot in which they were booked and then by id.',
  { edgeDescription: 'An output and its cursor.' },
)

builder.queryField('unspentOutputs', (t) =>
  t.field({
    type: UnspentOutputConnection,
    nullable: true,
    description:
      'A list of unspent outputs, ordered by the slot in which they were booked and then by id.',
    complexity: pageCost,
    args: {
      filter: t.arg({
        type: UnspentOutputFilter,
        description:
          'Conditions on the outputs. Without a filter, all unspent outputs are returned.',
      }),
      ...oldestArgs,
    },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const conditions = orThrow(filterOf(services, filter ?? { committed: false }))
      return orThrow(await listUnspentOutputs(services, conditions, page))
    },
  }),
)

function filterOf(services: Services, input: FilterInput): Result<Filter, ConditionError> {
  const conditions = conditionsOf(services, input)
  if (!conditions.ok) return conditions
  return ok({
    asOf: input.committed ? 'COMMITTED' : 'BOOKED',
    kinds: input.kinds ?? undefined,
    ...conditions.value,
    created: bounds(input.createdAfter, input.createdBefore),
  })
}

/** Converts the conditions to those of the service. Absent conditions are undefined. */
export function conditionsOf(
  services: Services,
  input: ConditionInput,
): Result<UnspentConditions, ConditionError> {
  const key = (text: string, argument: string) =>
    addressKeyOf(services.parameters.bech32Hrp, text, `filter.${argument}`)
  const heldBy = input.heldBy == null ? ok(undefined) : key(input.heldBy, 'heldBy')
  if (!heldBy.ok) return heldBy
  const unlocking =
    input.unlockableBy == null ? ok(undefined) : key(input.unlockableBy, 'unlockableBy')
  if (!unlocking.ok) return unlocking
  const keys = keysOf(input, key)
  if (!keys.ok) return keys
  return ok({
    heldBy: heldBy.value,
    anyOf: unlocking.value && unlockableBy(unlocking.value),
    keys: keys.value,
    hasToken: input.hasNativeToken ?? undefined,
    hasReturn: input.hasStorageDepositReturn ?? undefined,
    hasTimelock: input.hasTimelock ?? undefined,
    hasExpiration: input.hasExpiration ?? undefined,
    timelocked: bounds(input.timelockedAfter, input.timelockedBefore),
    expires: bounds(input.expiresAfter, input.expiresBefore),
  })
}

/** Returns the index keys of the conditions, the chain first: the first key is looked up, and a chain has the fewest outputs. */
function keysOf(
  input: ConditionInput,
  key: (text: string, argument: string) => ReturnType<typeof addressKeyOf>,
): Result<readonly Key[], ConditionError> {
  const { chainId, tag, nativeToken } = input
  const count = input.addresses?.length ?? 0
  if (count > maxFilterAddresses) {
    return err({ code: 'FILTER_ADDRESS_COUNT', count, limit: maxFilterAddresses })
  }
  const keys: Key[] = []
  if (chainId != null) keys.push({ kind: 'CHAIN', value: chainId })
  for (const [i, { role, address }] of (input.addresses ?? []).entries()) {
    const value = key(address, `addresses.${i}.address`)
    if (!value.ok) return err(value.error)
    keys.push({ kind: role, value: value.value })
  }
  if (tag != null) keys.push({ kind: 'TAG', value: tag })
  if (nativeToken != null) keys.push({ kind: 'NATIVE_TOKEN', value: nativeToken })
  return ok(keys)
}

function bounds(after: number | null | undefined, before: number | null | undefined) {
  if (after == null && before == null) return undefined
  return { after: after ?? undefined, before: before ?? undefined }
}
