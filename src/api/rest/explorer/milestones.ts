import { err, ok, type Result } from '../../../lib/result.ts'
import { CommitmentId } from '../../../protocol/primitives.ts'
import { maxSlot } from '../../../protocol/slots.ts'
import type { Services } from '../../../service/services.ts'
import { listMilestones, milestonesWithin } from '../../../service/slots/explorer-lists.ts'
import {
  type CommitmentName,
  type CommittedSlotRow,
  findMilestone as findByName,
} from '../../../service/slots/read-commitment.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import type { NotFound } from '../../errors/api-errors.ts'
import { id, listOf, object, uint32 } from '../form.ts'
import { pageAt, pageCursor } from '../page-cursor.ts'
import { number32, type Parameter, pageSize, pathId, pathSlot, sort } from '../parameters.ts'
import { jsonReply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Milestones, which are committed slots: path parameters and list routes (rest.md 3.1, 3.8). */

/** A way to identify a milestone in a path. */
export interface MilestoneNaming {
  readonly path: string
  readonly parameter: string
  readonly params: { readonly [name: string]: Parameter<CommitmentName> }
}

/** Identifies a milestone by the id of its commitment; the parameter name depends on the version of the explorer API. */
export function byId(parameter: 'milestoneId' | 'commitmentId'): MilestoneNaming {
  return { path: `{${parameter}}`, parameter, params: { [parameter]: pathId(CommitmentId) } }
}

/** Identifies a milestone by its slot. */
export const byIndex: MilestoneNaming = {
  path: 'by-index/{index}',
  parameter: 'index',
  params: { index: pathSlot },
}

export async function findMilestone(
  { parameter }: MilestoneNaming,
  given: object,
  services: Services,
): Promise<Result<CommittedSlotRow, NotFound>> {
  const name: CommitmentName = (given as Record<string, CommitmentName>)[parameter] ?? 0
  const milestone = await findByName(services, name)
  if (milestone !== undefined) return ok(milestone)
  return err({ code: 'NOT_FOUND', what: 'milestone', id: String(name) })
}

/** A list route of milestones, with the names and the range of a version of the explorer API. */
interface Listing {
  readonly path: string
  readonly about: string
  /** What the range is in. */
  readonly of: 'time' | 'slot'
  readonly start: string
  readonly end: string
  readonly described: Readonly<{ start: string; end: string }>
  readonly idName: 'milestoneId' | 'commitmentId'
  /** Returns the slots of a range. */
  slots(services: Services, span: Span): { readonly firstSlot: number; readonly lastSlot: number }
}

interface Span {
  readonly start: number | undefined
  readonly end: number | undefined
}

/** Milestones by the Unix time of their end. */
export const milestonesRoute = listingRoute({
  path: '/api/explorer/v2/milestones',
  about: 'Returns the milestones, page by page.',
  of: 'time',
  start: 'startTimestamp',
  end: 'endTimestamp',
  described: {
    start: 'Only milestones that ended at this Unix time in seconds or later.',
    end: 'Only milestones that ended at this Unix time in seconds or earlier.',
  },
  idName: 'milestoneId',
  slots: ({ parameters }, span) => milestonesWithin(parameters, span),
})

/** Milestones by slot. */
export const commitmentsRoute = listingRoute({
  path: '/api/explorer/v3/commitments',
  about: 'Returns the committed slots, page by page.',
  of: 'slot',
  start: 'startIndex',
  end: 'endIndex',
  described: { start: 'Lowest slot, inclusive.', end: 'Highest slot, inclusive.' },
  idName: 'commitmentId',
  slots: (_services, { start = 0, end = maxSlot }) => ({ firstSlot: start, lastSlot: end }),
})

function listingRoute({ path, about, of, start, end, described, idName, slots }: Listing) {
  const position = pageCursor({ position: '[0-9]{1,10}', words: 'index.pageSize', read: Number })
  const span: { readonly [name: string]: Parameter<number | undefined> } = {
    [start]: number32(described.start),
    [end]: number32(described.end),
  }
  return readRoute({
    path,
    about,
    query: { ...span, sort, pageSize, cursor: position.parameter },
    reply: jsonReply(
      'A page of milestones.',
      object({
        items: listOf(object({ [idName]: id('CommitmentId'), index: uint32 }), maxPageSize),
        cursor: position.next,
      }),
    ),
    answer: async (given, services) => {
      const { sort, cursor, pageSize: size, ...bounds } = given
      const { [start]: first, [end]: last }: Readonly<Record<string, number | undefined>> = bounds
      if (first !== undefined && last !== undefined && last < first) {
        return err({ code: 'RANGE_REVERSED', of, start, end })
      }
      const { from, pageSize } = pageAt({ cursor, pageSize: size })
      const { milestones, next } = await listMilestones(services, {
        ...slots(services, { start: first, end: last }),
        sort,
        from,
        pageSize,
      })
      return ok({
        items: milestones.map(({ commitmentId, index }) => ({ [idName]: commitmentId, index })),
        cursor: next === undefined ? undefined : `${next}.${pageSize}`,
      })
    },
  })
}
