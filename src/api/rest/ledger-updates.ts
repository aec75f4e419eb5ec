import { ok, type Result } from '../../lib/result.ts'
import { addressKey } from '../../service/addresses/address-key.ts'
import {
  type ExplorerQuestion,
  type ExplorerUpdate,
  listExplorerUpdates,
} from '../../service/updates/list-explorer-updates.ts'
import {
  type PageCursor,
  type PageCursorMalformed,
  parsePageCursor,
} from '../../service/updates/update-position.ts'
import type { QueryParameterMalformed } from '../api-errors.ts'
import { toRest } from '../errors.ts'
import {
  about,
  bech32,
  count,
  flag,
  listOf,
  named,
  object,
  optional,
  type ShapeMembers,
  uint32,
} from './openapi/shape.ts'
import { pageSizeParameter, readNumber, readPageSize, readSort, sortParameter } from './query.ts'
import { json, param, type Route } from './route.ts'

/** The updates of outputs that an address owned (specification 4.3; rest.md 3.2 to 3.5, 3.8). */

const pageCursor = {
  type: 'string',
  pattern: '^[0-9]{1,10}\\.0x[0-9a-fA-F]{76}\\.(true|false)\\.[0-9]{1,20}$',
}

/** How a version of the explorer speaks of the same updates. */
interface Dialect {
  readonly version: 'v2' | 'v3'
  /** Names of the parameter that says where to begin; a later one counts where the former are left out. */
  readonly start: readonly string[]
  readonly item: ShapeMembers
  /** The members of a record, in the original's order. */
  itemOf(update: ExplorerUpdate): object
}

/** By milestone, as in the specification. */
export const ledgerUpdatesByAddress = updatesRoute({
  version: 'v2',
  start: ['startMilestoneIndex'],
  item: {
    milestoneIndex: uint32,
    milestoneTimestamp: about('The end of the milestone in Unix seconds.', count),
  },
  itemOf: ({ outputId, isSpent, milestoneIndex, milestoneTimestamp }) => ({
    outputId,
    isSpent,
    milestoneIndex,
    milestoneTimestamp,
  }),
})

/** By slot, as in the later line of the original; its explorer names the start otherwise than its server. */
export const slotUpdatesByAddress = updatesRoute({
  version: 'v3',
  start: ['startSlot', 'startSlotIndex'],
  item: { slotIndex: uint32 },
  itemOf: ({ outputId, isSpent, milestoneIndex: slotIndex }) => ({ outputId, isSpent, slotIndex }),
})

function updatesRoute({ version, start, item, itemOf }: Dialect): Route {
  const startShape = about('Where to begin, itself included.', uint32)
  return {
    method: 'GET',
    path: `/api/explorer/${version}/ledger/updates/by-address/{address}`,
    about: 'The creations and spendings of outputs that an address owned, page by page.',
    params: { address: about('Bech32 text, behind any human-readable part.', bech32) },
    query: {
      pageSize: pageSizeParameter,
      sort: sortParameter,
      ...Object.fromEntries(start.map((name) => [name, startShape])),
      cursor: about('Of the page before.', pageCursor),
    },
    answers: { 200: { about: 'A page of them.', json: pageShape(item) } },
    errors: [],
    answer: async (request, services) => {
      // The query comes first, as in the original.
      const query = readQuestion(request.query, start)
      if (!query.ok) return toRest(query.error)
      const text = param(request, 'address')
      const address = addressKey(text, 'address')
      if (!address.ok) return toRest(address.error)
      const page = await listExplorerUpdates(services, {
        ...query.value,
        address: address.value.key,
      })
      const items = page.updates.map(itemOf)
      const { cursor } = page
      return json(200, { address: text, items, ...(cursor !== undefined && { cursor }) })
    },
  }
}

function pageShape(item: ShapeMembers) {
  return object({
    address: about('As it was asked for.', bech32),
    items: listOf(
      object({
        outputId: named('OutputId'),
        isSpent: about('Whether this spent the output, or created it.', flag),
        ...item,
      }),
      1000,
    ),
    cursor: optional(about('Where the next page begins; absent where there is none.', pageCursor)),
  })
}

type QueryError = QueryParameterMalformed | PageCursorMalformed

/** Every parameter is checked, also one that the cursor overrides. */
function readQuestion(
  query: ReadonlyMap<string, string>,
  startNames: readonly string[],
): Result<Omit<ExplorerQuestion, 'address'>, QueryError> {
  const pageSize = readPageSize(query)
  if (!pageSize.ok) return pageSize
  const sort = readSort(query)
  if (!sort.ok) return sort
  let startMilestoneIndex: number | undefined
  for (const name of startNames) {
    const start = readNumber(query, name)
    if (!start.ok) return start
    startMilestoneIndex ??= start.value
  }
  const cursor = readCursor(query.get('cursor'))
  if (!cursor.ok) return cursor
  return ok({
    pageSize: pageSize.value,
    sort: sort.value,
    startMilestoneIndex,
    cursor: cursor.value,
  })
}

function readCursor(text: string | undefined): Result<PageCursor | undefined, QueryError> {
  return text === undefined ? ok(undefined) : parsePageCursor(text)
}
