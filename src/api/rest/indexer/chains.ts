import type { Hex } from '../../../lib/hex.ts'
import { err, ok } from '../../../lib/result.ts'
import {
  AccountAddress,
  AnchorAddress,
  MultiAddress,
  NftAddress,
} from '../../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../../protocol/ids.ts'
import { FoundOutputs } from '../../../protocol/node-responses.ts'
import {
  AccountOutput,
  AnchorOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
} from '../../../protocol/outputs.ts'
import { DelegationId, FoundryId } from '../../../protocol/primitives.ts'
import type { AnyVariant } from '../../../protocol/schema/composites.ts'
import { findOutputs, readMultiAddresses } from '../../../service/outputs/find-outputs.ts'
import { flag, object } from '../form.ts'
import { healthRoute } from '../health.ts'
import { addressOfKind, type Parameter, pathId } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'
import { indexerPath } from './outputs.ts'

/** Routes for the unspent output of an account, an anchor, an NFT, a foundry or a delegation (rest.md 5). */

/** A kind of chain, with the type code of its outputs and the path parameter with its id. */
interface Chain {
  readonly name: string
  readonly parameter: string
  readonly kind: number
  readonly id: Parameter<Hex>
}

function byAddress(name: string, { code: kind }: AnyVariant, addressKind: AnyVariant): Chain {
  const prefix = addressKeyPrefix(addressKind)
  const address = addressOfKind('Address of the chain on this network, in Bech32.', name, prefix)
  const id: Parameter<Hex> = {
    ...address,
    read: (text, context) => {
      const key = address.read(text, context)
      return key.ok ? ok<Hex>(`0x${key.value.slice(prefix.length)}`) : key
    },
  }
  return { name, parameter: 'bech32Address', kind, id }
}

const chains: readonly Chain[] = [
  byAddress('account', AccountOutput, AccountAddress),
  byAddress('anchor', AnchorOutput, AnchorAddress),
  byAddress('nft', NftOutput, NftAddress),
  { name: 'foundry', parameter: 'foundryId', kind: FoundryOutput.code, id: pathId(FoundryId) },
  {
    name: 'delegation',
    parameter: 'delegationId',
    kind: DelegationOutput.code,
    id: pathId(DelegationId),
  },
]

export const chainRoutes = chains.map(({ name, parameter, kind, id }) =>
  readRoute({
    path: `${indexerPath}/outputs/${name}/{${parameter}}`,
    about: `Returns the unspent output of a chain of the kind ${name}.`,
    params: { [parameter]: id },
    reply: serialized('A list with the id of the output.', FoundOutputs),
    errors: [404],
    answer: async (given, services) => {
      const value = (given as Readonly<Record<string, Hex>>)[parameter] as Hex
      const filter = { keys: [{ kind: 'CHAIN', value }] as const, kinds: [kind] }
      const page = { filter, after: undefined, pageSize: 1 }
      const { committedSlot, outputIds: items } = await findOutputs(services, page)
      if (items.length === 0) return err({ code: 'NOT_FOUND', what: name, id: value })
      return ok({ committedSlot, pageSize: 1, items, cursor: '' })
    },
  }),
)

export const multiAddressRoute = readRoute({
  path: `${indexerPath}/multiaddress/{bech32Address}`,
  about: 'Returns the members of a multi address, whose Bech32 text contains only their hash.',
  params: {
    bech32Address: addressOfKind(
      'Multi address of this network in Bech32.',
      'multi',
      addressKeyPrefix(MultiAddress),
    ),
  },
  reply: serialized('The complete address.', MultiAddress),
  errors: [404],
  answer: async ({ bech32Address }, services, request) => {
    const multi = (await readMultiAddresses(services, [bech32Address])).get(bech32Address)
    if (multi !== undefined) return ok(multi)
    const text = request.params.get('bech32Address') ?? ''
    return err({ code: 'NOT_FOUND', what: 'multi address', id: text })
  },
})

/** Whether the index is up to date, which it is whenever the ledger is: both are written together. */
export const indexerHealthRoute = healthRoute({
  path: `${indexerPath}/health`,
  about: 'Returns whether the index is up to date with the ledger.',
  form: object({ isHealthy: flag }),
  described: { 200: 'The index is up to date.', 503: 'The index may be out of date.' },
  toAnswer: ({ isHealthy }) => ({ isHealthy }),
})
