import { err, ok, type Result } from '../../../lib/result.ts'
import { FoundOutputs } from '../../../protocol/node-answers.ts'
import {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
} from '../../../protocol/outputs.ts'
import type { OutputId } from '../../../protocol/primitives.ts'
import {
  findOutputs,
  type OutputFilter,
  type OutputPlace,
} from '../../../service/outputs/find-outputs.ts'
import type { Services } from '../../../service/services.ts'
import type { QueryParameterMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { answered, answerWith } from '../core/answer.ts'
import { about, count, type Shape, text } from '../openapi/shape.ts'
import type { RestRequest, RestResponse, Route } from '../route.ts'
import { type FilterName, filters, readFilters } from './filters.ts'

/** Unspent outputs by what they are and have (rest.md 5). */

/** The first part of every path. */
export const indexerPath = '/api/indexer/v2'

/** The most outputs of a page, which is also the default. */
const mostOutputs = 1_000

const conditions = [
  'hasStorageDepositReturn',
  'storageDepositReturnAddress',
  'hasExpiration',
  'expirationReturnAddress',
  'expiresBefore',
  'expiresAfter',
  'hasTimelock',
  'timelockedBefore',
  'timelockedAfter',
] as const satisfies readonly FilterName[]

/** A list of outputs: where it stands, which kinds it has, and what they can be filtered by. */
interface List {
  readonly path: string
  readonly about: string
  readonly kinds?: readonly number[]
  readonly filters: readonly FilterName[]
}

const lists: readonly List[] = [
  {
    path: '/outputs',
    about: 'Unspent outputs of all kinds.',
    filters: ['hasNativeToken', 'nativeToken', 'unlockableByAddress'],
  },
  {
    path: '/outputs/basic',
    about: 'Unspent basic outputs.',
    kinds: [BasicOutput.code],
    filters: [
      'address',
      ...conditions,
      'sender',
      'tag',
      'hasNativeToken',
      'nativeToken',
      'unlockableByAddress',
    ],
  },
  {
    path: '/outputs/account',
    about: 'Accounts.',
    kinds: [AccountOutput.code],
    filters: ['address', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    path: '/outputs/anchor',
    about: 'Anchors.',
    kinds: [AnchorOutput.code],
    filters: ['stateController', 'governor', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    path: '/outputs/foundry',
    about: 'Foundries.',
    kinds: [FoundryOutput.code],
    filters: ['account', 'accountAddress', 'hasNativeToken', 'nativeToken'],
  },
  {
    path: '/outputs/nft',
    about: 'NFTs.',
    kinds: [NftOutput.code],
    filters: ['address', ...conditions, 'issuer', 'sender', 'tag', 'unlockableByAddress'],
  },
  {
    path: '/outputs/delegation',
    about: 'Delegations.',
    kinds: [DelegationOutput.code],
    filters: ['address', 'validator'],
  },
]

/** All lists. */
export const outputListRoutes: readonly Route[] = lists.map(listRoute)

const cursorForm = /^([0-9a-fA-F]{8})([0-9a-fA-F]{76})\.([0-9]{1,10})$/

function listRoute({ path, about: sentence, kinds, filters: own }: List): Route {
  const names = [...own, 'createdBefore', 'createdAfter'] as const
  const shapes = Object.fromEntries(
    names.map((name): [string, Shape] => [name, filters[name].shape]),
  )
  return {
    method: 'GET',
    path: `${indexerPath}${path}`,
    about: sentence,
    query: {
      ...shapes,
      pageSize: about('At most 1000, which is also what 0 and what is no number mean.', {
        ...count,
        default: mostOutputs,
      }),
      cursor: about('Of the page before, whose size it carries; empty: from the beginning.', text),
    },
    answers: { 200: answered('A page of their ids, by booked slot and id.', FoundOutputs) },
    errors: [],
    answer: async (request, services) => {
      const filter = readFilters(request.query, names, services.parameters.bech32Hrp)
      if (!filter.ok) return toRest(filter.error)
      const page = readPage(request.query)
      if (!page.ok) return toRest(page.error)
      const { after, pageSize } = page.value
      return answerFound(request, services, {
        filter: { ...filter.value, ...(kinds && { kinds }) },
        after,
        pageSize,
      })
    },
  }
}

async function answerFound(
  request: RestRequest,
  services: Services,
  page: { filter: OutputFilter; after: OutputPlace | undefined; pageSize: number },
): Promise<RestResponse> {
  const { pageSize } = page
  const { committedSlot, outputIds: items, next } = await findOutputs(services, page)
  const cursor = next === undefined ? '' : printCursor(next, pageSize)
  return answerWith(request, FoundOutputs, { committedSlot, pageSize, items, cursor })
}

/** Behind this output the next page begins. */
function printCursor({ bookedSlot, outputId }: OutputPlace, pageSize: number): string {
  return `${bookedSlot.toString(16).padStart(8, '0')}${outputId.slice(2)}.${pageSize}`
}

function readPage(
  query: ReadonlyMap<string, string>,
): Result<
  { readonly after: OutputPlace | undefined; readonly pageSize: number },
  QueryParameterMalformed
> {
  const cursor = query.get('cursor') ?? ''
  if (cursor === '') return ok({ after: undefined, pageSize: pageSizeOf(query.get('pageSize')) })
  const [, slot = '', id = '', size] = cursorForm.exec(cursor) ?? []
  if (size === undefined) {
    const expected = 'the digits of a slot and an output id, a dot, and a page size'
    return err({ code: 'QUERY_PARAMETER_MALFORMED', name: 'cursor', expected })
  }
  const outputId = `0x${id.toLowerCase()}` as OutputId
  const after = { bookedSlot: Number.parseInt(slot, 16), outputId }
  return ok({ after, pageSize: pageSizeOf(size) })
}

/** What is no number, or none above 0, means the most. */
function pageSizeOf(given: string | undefined): number {
  const size = /^[0-9]{1,10}$/.test(given ?? '') ? Number(given) : 0
  return size === 0 ? mostOutputs : Math.min(size, mostOutputs)
}
