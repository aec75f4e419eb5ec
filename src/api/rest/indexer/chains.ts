import type { Hex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import {
  AccountAddress,
  AnchorAddress,
  MultiAddress,
  NftAddress,
} from '../../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../../protocol/ids.ts'
import { FoundOutputs } from '../../../protocol/node-answers.ts'
import {
  AccountOutput,
  AnchorOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
} from '../../../protocol/outputs.ts'
import { DelegationId, FoundryId } from '../../../protocol/primitives.ts'
import type { AnyVariant } from '../../../protocol/schema/composites.ts'
import { type AddressError, addressKeyOf } from '../../../service/addresses/address-key.ts'
import { findMultiAddress, findOutputs } from '../../../service/outputs/find-outputs.ts'
import type { Services } from '../../../service/services.ts'
import type { AddressOfAnotherKind, PathIdMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { answered, answerWith } from '../core/answer.ts'
import { pathId } from '../core/ids.ts'
import { healthAnswer, healthOf } from '../health.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { about, bech32, type Shape } from '../openapi/shape.ts'
import { json, param, type RestRequest, type Route } from '../route.ts'
import { indexerPath } from './outputs.ts'

/** The one output that an account, an anchor, an NFT, a foundry or a delegation is now (rest.md 5). */

type ChainIdError = AddressError | AddressOfAnotherKind | PathIdMalformed

/** A chain: where it stands, the type code of its outputs, and how its id is read. */
interface Chain {
  readonly name: string
  readonly parameter: string
  readonly shape: Shape
  readonly kind: number
  read(request: RestRequest, services: Services): Result<Hex, ChainIdError>
}

function byAddress(name: string, { code: kind }: AnyVariant, address: AnyVariant): Chain {
  const prefix = addressKeyPrefix(address)
  const parameter = 'bech32Address'
  return {
    name,
    parameter,
    shape: about(`Bech32 text of its address, of this network.`, bech32),
    kind,
    read: (request, services) => {
      const { bech32Hrp } = services.parameters
      const key = addressKeyOf(bech32Hrp, param(request, parameter), parameter)
      if (!key.ok) return key
      if (!key.value.startsWith(prefix)) {
        return err({ code: 'ADDRESS_OF_ANOTHER_KIND', argument: parameter, expected: name })
      }
      const id: Hex = `0x${key.value.slice(prefix.length)}`
      return ok(id)
    },
  }
}

const chains: readonly Chain[] = [
  byAddress('account', AccountOutput, AccountAddress),
  byAddress('anchor', AnchorOutput, AnchorAddress),
  byAddress('nft', NftOutput, NftAddress),
  {
    name: 'foundry',
    parameter: 'foundryId',
    shape: shapeOf(FoundryId),
    kind: FoundryOutput.code,
    read: (request) => pathId(request, 'foundryId', FoundryId),
  },
  {
    name: 'delegation',
    parameter: 'delegationId',
    shape: shapeOf(DelegationId),
    kind: DelegationOutput.code,
    read: (request) => pathId(request, 'delegationId', DelegationId),
  },
]

/** One route for each kind of chain. */
export const chainRoutes: readonly Route[] = chains.map(
  ({ name, parameter, shape, kind, read }) => ({
    method: 'GET',
    path: `${indexerPath}/outputs/${name}/{${parameter}}`,
    about: `The unspent output that a chain of the kind ${name} is now.`,
    params: { [parameter]: shape },
    answers: { 200: answered('Its id, alone.', FoundOutputs) },
    errors: [404],
    answer: async (request, services) => {
      const id = read(request, services)
      if (!id.ok) return toRest(id.error)
      const keys = [{ kind: 'CHAIN', value: id.value }] as const
      const filter = { keys, kinds: [kind] }
      const found = await findOutputs(services, { filter, after: undefined, pageSize: 1 })
      const { committedSlot, outputIds: items } = found
      if (items.length === 0) return toRest({ code: 'NOT_FOUND', what: name, id: id.value })
      return answerWith(request, FoundOutputs, { committedSlot, pageSize: 1, items, cursor: '' })
    },
  }),
)

/** The members of a multi address, which its Bech32 text has only the hash of. */
export const multiAddressRoute: Route = {
  method: 'GET',
  path: `${indexerPath}/multiaddress/{bech32Address}`,
  about: 'The members of a multi address, of which its text has only the hash.',
  params: { bech32Address: about('Bech32 text of a multi address, of this network.', bech32) },
  answers: { 200: answered('The whole address.', MultiAddress) },
  errors: [404],
  answer: async (request, services) => {
    const argument = 'bech32Address'
    const text = param(request, argument)
    const key = addressKeyOf(services.parameters.bech32Hrp, text, argument)
    if (!key.ok) return toRest(key.error)
    if (!key.value.startsWith(addressKeyPrefix(MultiAddress))) {
      return toRest({ code: 'ADDRESS_OF_ANOTHER_KIND', argument, expected: 'multi' })
    }
    const multi = await findMultiAddress(services, key.value)
    if (multi !== undefined) return answerWith(request, MultiAddress, multi)
    return toRest({ code: 'NOT_FOUND', what: 'multi address', id: text })
  },
}

/** Whether the index keeps up, which is written with the ledger itself. */
export const indexerHealthRoute: Route = {
  method: 'GET',
  path: `${indexerPath}/health`,
  about: 'Whether the index keeps up with the ledger.',
  answers: { 200: healthAnswer('It does.'), 503: healthAnswer('It does not.') },
  errors: [],
  answer: async (request, services) => {
    const { isHealthy } = await healthOf(request, services)
    return json(isHealthy ? 200 : 503, { isHealthy })
  },
}
