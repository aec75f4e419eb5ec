import { ok } from '../../../lib/result.ts'
import { FoundOutputs } from '../../../protocol/node-answers.ts'
import { BasicOutput } from '../../../protocol/outputs.ts'
import type { OutputId } from '../../../protocol/primitives.ts'
import { chainKinds } from '../../../service/chains/read-chain.ts'
import {
  findOutputs,
  type OutputFilter,
  type OutputPlace,
} from '../../../service/outputs/find-outputs.ts'
import { maximumPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { about, text } from '../form.ts'
import { type PageAt, pageAt } from '../page-cursor.ts'
import { lenientPageSize, malformed, type Parameter, sizeUpTo } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { type Route, readRoute } from '../route.ts'
import { type FilterName, filters, mergeFilters } from './filters.ts'

/** Unspent outputs by what they are and have (rest.md 5). */

/** The first part of every path. */
export const indexerPath = '/api/indexer/v2'

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

/** A list of outputs: its path, the kinds in it, and the filters of its query. */
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
    kinds: [chainKinds.ACCOUNT],
    filters: ['address', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    path: '/outputs/anchor',
    about: 'Anchors.',
    kinds: [chainKinds.ANCHOR],
    filters: ['stateController', 'governor', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    path: '/outputs/foundry',
    about: 'Foundries.',
    kinds: [chainKinds.FOUNDRY],
    filters: ['account', 'accountAddress', 'hasNativeToken', 'nativeToken'],
  },
  {
    path: '/outputs/nft',
    about: 'NFTs.',
    kinds: [chainKinds.NFT],
    filters: ['address', ...conditions, 'issuer', 'sender', 'tag', 'unlockableByAddress'],
  },
  {
    path: '/outputs/delegation',
    about: 'Delegations.',
    kinds: [chainKinds.DELEGATION],
    filters: ['address', 'validator'],
  },
]

const cursorForm = /^([0-9a-fA-F]{8})([0-9a-fA-F]{76})\.([0-9]{1,10})$/

/** The next page begins after this output; an empty cursor means the beginning. */
const cursor: Parameter<PageAt<OutputPlace> | undefined> = {
  shape: about('Of the page before, whose size it carries; empty: from the beginning.', text).shape,
  read: (given = '', { name }) => {
    if (given === '') return ok(undefined)
    const [, slot = '', id = '', size] = cursorForm.exec(given) ?? []
    if (size === undefined) {
      return malformed(name, 'the digits of a slot and an output id, a dot, and a page size')
    }
    const outputId = `0x${id.toLowerCase()}` as OutputId
    const from = { bookedSlot: Number.parseInt(slot, 16), outputId }
    return ok({ from, pageSize: sizeUpTo(maximumPageSize, size) })
  },
}

function printCursor({ bookedSlot, outputId }: OutputPlace, pageSize: number): string {
  return `${bookedSlot.toString(16).padStart(8, '0')}${outputId.slice(2)}.${pageSize}`
}

/** All lists. */
export const outputListRoutes: readonly Route[] = lists.map(listRoute)

function listRoute({ path, about, kinds, filters: own }: List): Route {
  const names = [...own, 'createdBefore', 'createdAfter'] as const
  const ofNames: { readonly [name: string]: Parameter<OutputFilter> } = Object.fromEntries(
    names.map((name) => [name, filters[name]]),
  )
  return readRoute({
    path: `${indexerPath}${path}`,
    about,
    query: { ...ofNames, pageSize: lenientPageSize(maximumPageSize), cursor },
    reply: serialized('A page of their ids, by booked slot and id.', FoundOutputs),
    answer: async ({ pageSize: size, cursor, ...given }, services) => {
      const asked: Readonly<Record<string, OutputFilter>> = given
      const filter = { ...mergeFilters(Object.values(asked)), ...(kinds && { kinds }) }
      const { from: after, pageSize } = pageAt({ cursor, pageSize: size })
      const page = await findOutputs(services, { filter, after, pageSize })
      const { committedSlot, outputIds: items, next } = page
      const text = next === undefined ? '' : printCursor(next, pageSize)
      return ok({ committedSlot, pageSize, items, cursor: text })
    },
  })
}
