import { err, ok, type Result } from '../../lib/result.ts'
import { type AddressError, addressKeyOf } from '../../service/addresses/address-key.ts'
import { listUnspentOutputs, type UnspentConditions } from '../../service/lists/list-outputs.ts'
import { unlockableBy } from '../../service/outputs/find-outputs.ts'
import type { Services } from '../../service/services.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { AddressRole } from './ledger-updates.ts'
import { type InputFields, listConnection, oldestArgs } from './lists.ts'
import { OutputNode } from './output.ts'
import { OutputKind } from './output-kind.ts'
import { pageCost } from './prices.ts'

/** Unspent outputs by what they say. */

const AddressInRole = builder.inputType('AddressInRole', {
  description: 'An address and what it must be to an output.',
  fields: (t) => ({
    role: t.field({
      type: AddressRole,
      required: true,
      description: 'What it must be to the output.',
    }),
    address: t.string({ required: true, description: 'Bech32, of this network.' }),
  }),
})

/** Conditions that can be asked of unspent outputs. */
export function conditionFields(t: InputFields) {
  return {
    heldBy: t.string({
      description:
        'Bech32 of the owner as of the newest milestone: of an expired output the return address.',
    }),
    unlockableBy: t.string({
      description:
        'Bech32 of an address that may unlock it, now or after an expiration. Not beside heldBy.',
    }),
    addresses: t.field({
      type: [AddressInRole],
      description: 'Addresses in their roles as the output names them.',
    }),
    tag: t.field({ type: 'Hex', description: 'The tag, whole.' }),
    chainId: t.field({
      type: 'Hex',
      description: 'Id of an account, anchor, foundry, NFT or delegation.',
    }),
    nativeToken: t.field({ type: 'FoundryId', description: 'The native token it holds.' }),
    hasNativeToken: t.boolean({ description: 'Whether it holds native tokens.' }),
    hasStorageDepositReturn: t.boolean({
      description: 'Whether a part of it is to be returned when it is spent.',
    }),
    hasTimelock: t.boolean({ description: 'Whether it has a timelock, also one that is over.' }),
    timelockedBefore: t.field({ type: 'UInt32', description: 'Locked up to a slot before this.' }),
    timelockedAfter: t.field({ type: 'UInt32', description: 'Locked up to a slot after this.' }),
    hasExpiration: t.boolean({
      description: 'Whether it has an expiration, also one that has come.',
    }),
    expiresBefore: t.field({ type: 'UInt32', description: 'Expires in a slot before this.' }),
    expiresAfter: t.field({ type: 'UInt32', description: 'Expires in a slot after this.' }),
  }
}

const UnspentOutputFilter = builder.inputType('UnspentOutputFilter', {
  description: 'Conditions that outputs must all meet. The slots of bounds are excluded.',
  fields: (t) => ({
    kinds: t.field({ type: [OutputKind], description: 'Of these kinds.' }),
    ...conditionFields(t),
    createdBefore: t.field({ type: 'UInt32', description: 'Booked in a slot before this.' }),
    createdAfter: t.field({ type: 'UInt32', description: 'Booked in a slot after this.' }),
    committed: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'As of the newest milestone; otherwise as booked now, with what no milestone has yet.',
    }),
  }),
})

type FilterInput = typeof UnspentOutputFilter.$inferInput
type ConditionInput = Omit<FilterInput, 'committed' | 'kinds' | 'createdAfter' | 'createdBefore'>
type Filter = Parameters<typeof listUnspentOutputs>[1]
type Term = NonNullable<Filter['keys']>[number]

/** A page of unspent outputs. */
export const UnspentOutputConnection = listConnection(
  'UnspentOutput',
  OutputNode,
  'A page of unspent outputs, by the slot they were booked in and by id.',
  { edgeDescription: 'An output and its cursor.' },
)

builder.queryField('unspentOutputs', (t) =>
  t.field({
    type: UnspentOutputConnection,
    nullable: true,
    description: 'Unspent outputs, by the slot they were booked in, and in one slot by id.',
    complexity: pageCost,
    args: {
      filter: t.arg({ type: UnspentOutputFilter, description: 'Only what meets all of these.' }),
      ...oldestArgs,
    },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const asked = orThrow(filterOf(services, filter ?? { committed: false }))
      return orThrow(await listUnspentOutputs(services, asked, page))
    },
  }),
)

function filterOf(services: Services, input: FilterInput): Result<Filter, AddressError> {
  const conditions = conditionsOf(services, input)
  if (!conditions.ok) return conditions
  return ok({
    asOf: input.committed ? 'COMMITTED' : 'BOOKED',
    kinds: input.kinds ?? undefined,
    ...conditions.value,
    created: bounds(input.createdAfter, input.createdBefore),
  })
}

/** The conditions in the words of the service; those that are not given are undefined. */
export function conditionsOf(
  services: Services,
  input: ConditionInput,
): Result<UnspentConditions, AddressError> {
  const key = (text: string, argument: string) =>
    addressKeyOf(services.parameters.bech32Hrp, text, `filter.${argument}`)
  const heldBy = input.heldBy == null ? ok(undefined) : key(input.heldBy, 'heldBy')
  if (!heldBy.ok) return heldBy
  const unlocking =
    input.unlockableBy == null ? ok(undefined) : key(input.unlockableBy, 'unlockableBy')
  if (!unlocking.ok) return unlocking
  const keys = termsOf(input, key)
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

/** The chain first: the first key is looked up in the index, and a chain is the rarest. */
function termsOf(
  input: ConditionInput,
  key: (text: string, argument: string) => ReturnType<typeof addressKeyOf>,
): Result<readonly Term[], AddressError> {
  const { chainId, tag, nativeToken } = input
  const keys: Term[] = []
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
