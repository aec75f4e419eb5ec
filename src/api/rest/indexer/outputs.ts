import { ok } from '../../../lib/result.ts'
import { FoundOutputs } from '../../../protocol/node-responses.ts'
import { BasicOutput } from '../../../protocol/outputs.ts'
import type { OutputId } from '../../../protocol/primitives.ts'
import { chainKinds } from '../../../service/chains/read-chain.ts'
import {
  findOutputs,
  type OutputFilter,
  type OutputPlace,
} from '../../../service/outputs/find-outputs.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { about, text } from '../form.ts'
import { type PageAt, pageAt } from '../page-cursor.ts'
import { lenientPageSize, malformed, type Parameter, sizeUpTo } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { type Route, readRoute } from '../route.ts'
import { type FilterName, filters, mergeFilters } from './filters.ts'

/** Routes that list unspent outputs by kind and filters (rest.md 5). */

/** The prefix of every path of the indexer. */
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

/** A list of outputs of one kind, or of all kinds, and its filters. */
interface List {
  readonly name?: string
  readonly kind?: number
  readonly filters: readonly FilterName[]
}

const lists: readonly List[] = [
  { filters: ['hasNativeToken', 'nativeToken', 'unlockableByAddress'] },
  {
    name: 'basic',
    kind: BasicOutput.code,
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
    name: 'account',
    kind: chainKinds.ACCOUNT,
    filters: ['address', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    name: 'anchor',
    kind: chainKinds.ANCHOR,
    filters: ['stateController', 'governor', 'issuer', 'sender', 'unlockableByAddress'],
  },
  {
    name: 'foundry',
    kind: chainKinds.FOUNDRY,
    filters: ['account', 'accountAddress', 'hasNativeToken', 'nativeToken'],
  },
  {
    name: 'NFT',
    kind: chainKinds.NFT,
    filters: ['address', ...conditions, 'issuer', 'sender', 'tag', 'unlockableByAddress'],
  },
  { name: 'delegation', kind: chainKinds.DELEGATION, filters: ['address', 'validator'] },
]

const cursorForm = /^([0-9a-fA-F]{8})([0-9a-fA-F]{76})\.([0-9]{1,10})$/

/** The cursor: the last output of the previous page, and the page size. An empty cursor means the beginning. */
const cursor: Parameter<PageAt<OutputPlace> | undefined> = {
  shape: about(
    'Cursor from the previous page, which includes the page size; empty for the first page.',
    text,
  ).shape,
  read: (given = '', { name }) => {
    if (given === '') return ok(undefined)
    const [, slot = '', id = '', size] = cursorForm.exec(given) ?? []
    if (size === undefined) {
      return malformed(
        name,
        'the hexadecimal digits of a slot and an output id, a dot, and a page size',
      )
    }
    const outputId = `0x${id.toLowerCase()}` as OutputId
    const from = { bookedSlot: Number.parseInt(slot, 16), outputId }
    return ok({ from, pageSize: sizeUpTo(maxPageSize, size) })
  },
}

function printCursor({ bookedSlot, outputId }: OutputPlace, pageSize: number): string {
  return `${bookedSlot.toString(16).padStart(8, '0')}${outputId.slice(2)}.${pageSize}`
}

export const outputListRoutes: readonly Route[] = lists.map(listRoute)

function listRoute({ name, kind, filters: own }: List): Route {
  const outputs = name === undefined ? 'outputs of all kinds' : `${name} outputs`
  const names = [...own, 'createdBefore', 'createdAfter'] as const
  const ofNames: { readonly [name: string]: Parameter<OutputFilter> } = Object.fromEntries(
    names.map((name) => [name, filters[name]]),
  )
  return readRoute({
    path: `${indexerPath}/outputs${name === undefined ? '' : `/${name.toLowerCase()}`}`,
    about: `Returns the ids of unspent ${outputs}, page by page.`,
    query: { ...ofNames, pageSize: lenientPageSize(maxPageSize), cursor },
    reply: serialized('A page of output ids, ordered by booked slot and id.', FoundOutputs),
    answer: async ({ pageSize: size, cursor, ...given }, services) => {
      const asked: Readonly<Record<string, OutputFilter>> = given
      const filter = {
        ...mergeFilters(Object.values(asked)),
        ...(kind !== undefined && { kinds: [kind] }),
      }
      const { from: after, pageSize } = pageAt({ cursor, pageSize: size })
      const page = await findOutputs(services, { filter, after, pageSize })
      const { committedSlot, outputIds: items, next } = page
      const text = next === undefined ? '' : printCursor(next, pageSize)
      return ok({ committedSlot, pageSize, items, cursor: text })
    },
  })
}
