import { err, ok, type Result } from '../../lib/result.ts'
import { type AddressError, addressKeyOf } from '../../service/addresses/address-key.ts'
import {
  encodeOutputCursor,
  listUnspentOutputs,
  type UnspentPage,
  type UnspentPageQuestion,
  unlockableBy,
} from '../../service/outputs/list-unspent-outputs.ts'
import type { Services } from '../../service/services.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { AddressRole } from './ledger-updates.ts'
import { OutputNode } from './output.ts'
import { OutputKind } from './output-kind.ts'
import { pageCost } from './prices.ts'

/** Unspent outputs by what they say. */

const AddressInRole = builder.inputType('AddressInRole', {
  description: 'An address and what it must be to an output.',
  fields: (t) => ({
    role: t.field({ type: AddressRole, required: true }),
    address: t.string({ required: true, description: 'Bech32, of this network.' }),
  }),
})

const UnspentOutputFilter = builder.inputType('UnspentOutputFilter', {
  description: 'Conditions that outputs must all meet. The slots of bounds are excluded.',
  fields: (t) => ({
    kinds: t.field({ type: [OutputKind] }),
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
    tag: t.field({ type: 'Hex' }),
    chainId: t.field({
      type: 'Hex',
      description: 'Id of an account, anchor, foundry, NFT or delegation.',
    }),
    nativeToken: t.field({ type: 'FoundryId' }),
    hasNativeToken: t.boolean(),
    hasStorageDepositReturn: t.boolean(),
    hasTimelock: t.boolean(),
    timelockedBefore: t.field({ type: 'UInt32', description: 'Locked up to a slot before this.' }),
    timelockedAfter: t.field({ type: 'UInt32', description: 'Locked up to a slot after this.' }),
    hasExpiration: t.boolean(),
    expiresBefore: t.field({ type: 'UInt32' }),
    expiresAfter: t.field({ type: 'UInt32' }),
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
type Filter = UnspentPageQuestion['filter']
type Term = NonNullable<Filter['keys']>[number]

/** A page of unspent outputs. */
export const UnspentOutputConnection = connection('UnspentOutput', OutputNode, {
  description: 'A page of unspent outputs, by the slot they were booked in and by id.',
  edgeDescription: 'An output and its cursor.',
  nodesOf: (page: UnspentPage) => page.outputs,
  cursorOf: encodeOutputCursor,
})

builder.queryField('unspentOutputs', (t) =>
  t.field({
    type: UnspentOutputConnection,
    nullable: true,
    description: 'Unspent outputs; without first the first 100, at most 1000 at once.',
    complexity: pageCost,
    args: {
      filter: t.arg({ type: UnspentOutputFilter }),
      first: t.arg.int(),
      after: t.arg.string({ description: 'A cursor; exclusive. Its output may be spent since.' }),
    },
    resolve: async (_root, { filter, first, after }, { services }) => {
      const asked = orThrow(filterOf(services, filter ?? { committed: false }))
      return orThrow(await listUnspentOutputs(services, { filter: asked, first, after }))
    },
  }),
)

function filterOf(services: Services, input: FilterInput): Result<Filter, AddressError> {
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
    asOf: input.committed ? 'COMMITTED' : 'BOOKED',
    heldBy: heldBy.value,
    anyOf: unlocking.value && unlockableBy(unlocking.value),
    keys: keys.value,
    kinds: input.kinds ?? undefined,
    hasToken: input.hasNativeToken ?? undefined,
    hasReturn: input.hasStorageDepositReturn ?? undefined,
    hasTimelock: input.hasTimelock ?? undefined,
    hasExpiration: input.hasExpiration ?? undefined,
    timelocked: bounds(input.timelockedAfter, input.timelockedBefore),
    expires: bounds(input.expiresAfter, input.expiresBefore),
    created: bounds(input.createdAfter, input.createdBefore),
  })
}

/** The chain first: the first key is looked up in the index, and a chain is the rarest. */
function termsOf(
  input: FilterInput,
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
  return { after: after ?? undefined, before: before ?? undefined }
}
