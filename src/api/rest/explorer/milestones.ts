import { err, ok, type Result } from '../../../lib/result.ts'
import { CommitmentId } from '../../../protocol/primitives.ts'
import type { Services } from '../../../service/services.ts'
import { listMilestones, milestonesWithin } from '../../../service/slots/explore.ts'
import {
  type CommitmentName,
  type CommittedSlotRow,
  findMilestone as findByName,
} from '../../../service/slots/read-commitment.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import type {
  NotFound,
  PathIdMalformed,
  PathSlotMalformed,
  QueryParameterMalformed,
  RangeReversed,
} from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { pathId } from '../core/ids.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { about, listOf, named, object, optional, type Shape, uint32 } from '../openapi/shape.ts'
import { pageSizeParameter, readNumber, readPageAt, readSort, sortParameter } from '../query.ts'
import { json, type Parameters, param, type RestRequest, type Route } from '../route.ts'

/** Milestones, which are committed slots: named in paths, and listed (rest.md 3.1, 3.8). */

/** One way in which a path names a milestone. */
export interface MilestoneNaming {
  /** The segments of the path. */
  readonly path: string
  readonly params: Parameters
  read(request: RestRequest): Result<CommitmentName, PathIdMalformed | PathSlotMalformed>
}

/** By the id of its commitment, under the name that the version of the explorer has for it. */
export function byId(parameter: 'milestoneId' | 'commitmentId'): MilestoneNaming {
  return {
    path: `{${parameter}}`,
    params: { [parameter]: shapeOf(CommitmentId) },
    read: (request) => pathId(request, parameter, CommitmentId),
  }
}

/** By its slot. */
export const byIndex: MilestoneNaming = {
  path: 'by-index/{index}',
  params: { index: uint32 },
  read: readIndex,
}

/** Reads the parameter `index` of a path. */
export function readIndex(request: RestRequest): Result<number, PathSlotMalformed> {
  const index = parseSlot(param(request, 'index'))
  return index === undefined ? err({ code: 'PATH_SLOT_MALFORMED', name: 'index' }) : ok(index)
}

/** Finds the milestone that a path names. */
export async function findMilestone(
  naming: Pick<MilestoneNaming, 'read'>,
  request: RestRequest,
  services: Services,
): Promise<Result<CommittedSlotRow, PathIdMalformed | PathSlotMalformed | NotFound>> {
  const name = naming.read(request)
  if (!name.ok) return name
  const milestone = await findByName(services, name.value)
  if (milestone !== undefined) return ok(milestone)
  return err({ code: 'NOT_FOUND', what: 'milestone', id: String(name.value) })
}

const cursorShape = { type: 'string', pattern: '^[0-9]{1,10}\\.[0-9]{1,20}$' }

/** A list of milestones, by what and under which names. */
interface Listing {
  readonly path: string
  readonly about: string
  readonly start: string
  readonly end: string
  readonly described: Readonly<{ start: string; end: string }>
  readonly idName: 'milestoneId' | 'commitmentId'
  /** The slots of a span. */
  slots(
    services: Services,
    span: { readonly start: number | undefined; readonly end: number | undefined },
  ): { readonly least: number; readonly most: number }
}

/** By the Unix time of their end. */
export const milestonesRoute = listingRoute({
  path: '/api/explorer/v2/milestones',
  about: 'The milestones, page by page.',
  start: 'startTimestamp',
  end: 'endTimestamp',
  described: {
    start: 'None that ended before this Unix time in seconds.',
    end: 'None that ended after it.',
  },
  idName: 'milestoneId',
  slots: ({ parameters }, span) => milestonesWithin(parameters, span),
})

/** By their slot. */
export const commitmentsRoute = listingRoute({
  path: '/api/explorer/v3/commitments',
  about: 'The committed slots, page by page.',
  start: 'startIndex',
  end: 'endIndex',
  described: { start: 'The least slot.', end: 'The greatest slot.' },
  idName: 'commitmentId',
  slots: (_services, { start = 0, end = 0xffff_ffff }) => ({ least: start, most: end }),
})

function listingRoute(listing: Listing): Route {
  const { path, about: sentence, start, end, described, idName } = listing
  return {
    method: 'GET',
    path,
    about: sentence,
    query: {
      [start]: about(described.start, uint32),
      [end]: about(described.end, uint32),
      sort: sortParameter,
      pageSize: pageSizeParameter,
      cursor: about('Of the page before.', cursorShape),
    },
    answers: { 200: { about: 'A page of them.', json: pageShape(idName) } },
    errors: [],
    answer: async ({ query }, services) => {
      const span = readSpan(query, start, end)
      if (!span.ok) return toRest(span.error)
      const sort = readSort(query)
      if (!sort.ok) return toRest(sort.error)
      const at = readPageAt(query, /^[0-9]{1,10}$/, 'index.pageSize')
      if (!at.ok) return toRest(at.error)
      const { place, pageSize } = at.value
      const { milestones, next } = await listMilestones(services, {
        ...listing.slots(services, span.value),
        sort: sort.value,
        from: place === undefined ? undefined : Number(place),
        pageSize,
      })
      return json(200, {
        items: milestones.map(({ commitmentId, index }) => ({ [idName]: commitmentId, index })),
        ...(next !== undefined && { cursor: `${next}.${pageSize}` }),
      })
    },
  }
}

function pageShape(idName: string): Shape {
  return object({
    items: listOf(object({ [idName]: named('CommitmentId'), index: uint32 }), 1000),
    cursor: optional(about('Where the next page begins; absent where there is none.', cursorShape)),
  })
}

function readSpan(
  query: ReadonlyMap<string, string>,
  startName: string,
  endName: string,
): Result<
  { readonly start: number | undefined; readonly end: number | undefined },
  QueryParameterMalformed | RangeReversed
> {
  const start = readNumber(query, startName)
  if (!start.ok) return start
  const end = readNumber(query, endName)
  if (!end.ok) return end
  if (start.value !== undefined && end.value !== undefined && end.value < start.value) {
    return err({ code: 'RANGE_REVERSED', start: startName, end: endName })
  }
  return ok({ start: start.value, end: end.value })
}
