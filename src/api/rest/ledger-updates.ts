import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { addressKey } from '../../service/address-key.ts'
import {
  defaultPageSize,
  type ExplorerQuestion,
  type LedgerUpdateView,
  listExplorerUpdates,
} from '../../service/list-ledger-updates.ts'
import {
  type PageCursor,
  type PageCursorMalformed,
  parsePageCursor,
  parsePageSize,
  parseSlot,
  type UpdateSort,
} from '../../service/update-place.ts'
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
  uint32,
  word,
} from './openapi/shape.ts'
import { json, param, type Route } from './route.ts'

const pageCursor = {
  type: 'string',
  pattern: '^[0-9]{1,10}\\.0x[0-9a-fA-F]{76}\\.(true|false)\\.[0-9]{1,20}$',
}

const pageShape = object({
  address: about('As it was asked for.', bech32),
  items: listOf(
    object({
      outputId: named('OutputId'),
      isSpent: about('Whether this spent the output, or created it.', flag),
      milestoneIndex: uint32,
      milestoneTimestamp: about('The end of the milestone in Unix seconds.', count),
    }),
    1000,
  ),
  cursor: optional(about('Where the next page begins; absent where there is none.', pageCursor)),
})

/** A query parameter whose value is not of its form. */
export interface QueryParameterMalformed {
  readonly code: 'QUERY_PARAMETER_MALFORMED'
  readonly name: string
  readonly expected: string
}

/** The updates of outputs that an address owned (specification 4.3; rest.md 3.2 to 3.5). */
export const ledgerUpdatesByAddress: Route = {
  method: 'GET',
  path: '/api/explorer/v2/ledger/updates/by-address/{address}',
  about: 'The creations and spendings of outputs that an address owned, page by page.',
  params: { address: about('Bech32 text, behind any human-readable part.', bech32) },
  query: {
    pageSize: about('At most 1000; the cursor overrides it.', {
      ...count,
      minimum: 1,
      default: 100,
    }),
    sort: about('Not overridden by the cursor.', {
      ...word('newest', 'oldest'),
      default: 'newest',
    }),
    startMilestoneIndex: about('The milestone to begin at, itself included.', uint32),
    cursor: about('Of the page before.', pageCursor),
  },
  answers: { 200: { about: 'A page of them.', json: pageShape } },
  errors: [],
  answer: async (request, services) => {
    // The query comes first, as in the original.
    const query = readQuestion(request.query)
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

/** One record; the members stand in the original's order. */
function itemOf({ outputId, isSpent, milestoneIndex, milestoneTimestamp }: LedgerUpdateView) {
  return { outputId, isSpent, milestoneIndex, milestoneTimestamp }
}

type QueryError = QueryParameterMalformed | PageCursorMalformed

/** Every parameter is checked, also one that the cursor overrides. */
function readQuestion(
  query: ReadonlyMap<string, string>,
): Result<Omit<ExplorerQuestion, 'address'>, QueryError> {
  const pageSize = readPageSize(query.get('pageSize'))
  if (!pageSize.ok) return pageSize
  const sort = readSort(query.get('sort'))
  if (!sort.ok) return sort
  const start = readStart(query.get('startMilestoneIndex'))
  if (!start.ok) return start
  const cursor = readCursor(query.get('cursor'))
  if (!cursor.ok) return cursor
  return ok({
    pageSize: pageSize.value,
    sort: sort.value,
    startMilestoneIndex: start.value,
    cursor: cursor.value,
  })
}

function readPageSize(text: string | undefined): Result<number, QueryError> {
  if (text === undefined) return ok(defaultPageSize)
  const size = parsePageSize(text)
  return size === undefined ? malformed('pageSize', 'a whole number from 1 up') : ok(size)
}

function readSort(text: string | undefined): Result<UpdateSort, QueryError> {
  if (text === undefined || text === 'newest') return ok('NEWEST')
  return text === 'oldest' ? ok('OLDEST') : malformed('sort', 'oldest or newest')
}

function readStart(text: string | undefined): Result<SlotIndex | undefined, QueryError> {
  if (text === undefined) return ok(undefined)
  const slot = parseSlot(text)
  if (slot !== undefined) return ok(slot)
  return malformed('startMilestoneIndex', 'a whole number from 0 to 4294967295')
}

function readCursor(text: string | undefined): Result<PageCursor | undefined, QueryError> {
  return text === undefined ? ok(undefined) : parsePageCursor(text)
}

function malformed(name: string, expected: string): Result<never, QueryParameterMalformed> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}
