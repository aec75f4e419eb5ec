import { ok, type Result } from '../../../lib/result.ts'
import { BlockId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import {
  type CarriedPayload,
  countSlotBlocks,
  listChildren,
  listSlotBlocks,
  placeOfBlock,
} from '../../../service/slots/explore.ts'
import type { QueryParameterMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { pathId } from '../core/ids.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import {
  about,
  count,
  listOf,
  named,
  object,
  optional,
  type ShapeMembers,
  uint32,
} from '../openapi/shape.ts'
import {
  malformed,
  pageSizeParameter,
  readNumber,
  readPageAt,
  readPageSize,
  readSort,
  sortParameter,
} from '../query.ts'
import { json, type Route } from '../route.ts'
import { byId, byIndex, findMilestone, type MilestoneNaming } from './milestones.ts'

/** The blocks of a milestone, and those that refer to a block (rest.md 3.1, 3.8). */

/** How a version of the explorer lists blocks. */
interface Dialect {
  readonly base: string
  readonly namings: readonly MilestoneNaming[]
  readonly cursorForm: RegExp
  readonly cursor: string
  /** Members of the answer besides those that both have. */
  readonly more: ShapeMembers
  moreOf(services: Services, slot: number): Promise<object>
  /** How a cursor names a block, and the place of the block so named. */
  print(block: CarriedPayload): string
  placeOf(services: Services, text: string): Promise<Result<number, QueryParameterMalformed>>
}

const v2: Dialect = {
  base: '/api/explorer/v2/milestones',
  namings: [byId('milestoneId'), byIndex],
  cursorForm: /^[0-9]{1,15}$/,
  cursor: 'whiteFlagIndex.pageSize',
  more: {},
  moreOf: async () => ({}),
  print: ({ place }) => String(place),
  placeOf: async (_services, text) => ok(Number(text)),
}

const v3: Dialect = {
  base: '/api/explorer/v3/commitments',
  namings: [byId('commitmentId'), byIndex],
  cursorForm: /^0x[0-9a-fA-F]{72}$/,
  cursor: 'blockId.pageSize',
  more: { count: about('How many blocks the slot has in all.', count) },
  moreOf: async (services, slot) => ({ count: await countSlotBlocks(services, slot) }),
  print: ({ blockId }) => blockId,
  placeOf: async (services, text) => {
    const id = parse(BlockId, text)
    const place = id.ok ? await placeOfBlock(services, id.value) : undefined
    return place === undefined ? malformed('cursor', 'that of a block of the slot') : ok(place)
  },
}

/** Four routes: two ways to name a milestone in each version. */
export const milestoneBlocksRoutes: readonly Route[] = [v2, v3].flatMap((dialect) =>
  dialect.namings.map((naming) => blocksRoute(dialect, naming)),
)

function blocksRoute(dialect: Dialect, naming: MilestoneNaming): Route {
  const cursor = { type: 'string', pattern: '^(0x)?[0-9a-fA-F]+\\.[0-9]{1,20}$' }
  return {
    method: 'GET',
    path: `${dialect.base}/${naming.path}/blocks`,
    about: 'The accepted blocks of a milestone, in the order of their arrival or against it.',
    params: naming.params,
    query: {
      sort: sortParameter,
      pageSize: pageSizeParameter,
      cursor: about(`Of the page before: ${dialect.cursor}.`, cursor),
    },
    answers: {
      200: {
        about: 'A page of them.',
        json: object({
          ...dialect.more,
          blocks: listOf(
            object({
              blockId: named('BlockId'),
              payloadType: about('Of what it carries; null where that is nothing.', {
                type: ['integer', 'null'],
              }),
            }),
            1000,
          ),
          cursor: optional(
            about('Where the next page begins; absent where there is none.', cursor),
          ),
        }),
      },
    },
    errors: [404],
    answer: async (request, services) => {
      const sort = readSort(request.query)
      if (!sort.ok) return toRest(sort.error)
      const at = readPageAt(request.query, dialect.cursorForm, dialect.cursor)
      if (!at.ok) return toRest(at.error)
      const milestone = await findMilestone(naming, request, services)
      if (!milestone.ok) return toRest(milestone.error)
      const { place, pageSize } = at.value
      const from = place === undefined ? ok(undefined) : await dialect.placeOf(services, place)
      if (!from.ok) return toRest(from.error)
      const { slot } = milestone.value
      const page = { sort: sort.value, from: from.value, pageSize }
      const { blocks, next } = await listSlotBlocks(services, slot, page)
      return json(200, {
        ...(await dialect.moreOf(services, slot)),
        blocks: blocks.map(({ blockId, payloadType }) => ({ blockId, payloadType })),
        ...(next && { cursor: `${dialect.print(next)}.${pageSize}` }),
      })
    },
  }
}

/** Those that refer to a block, in both versions. */
export const childrenRoutes: readonly Route[] = ['v2', 'v3'].map((version) => ({
  method: 'GET',
  path: `/api/explorer/${version}/blocks/{blockId}/children`,
  about: 'The blocks that refer to a block, by id.',
  params: { blockId: shapeOf(BlockId) },
  query: {
    pageSize: pageSizeParameter,
    page: about('Which page, from 0.', { ...uint32, default: 0 }),
  },
  answers: {
    200: {
      about: 'A page of them.',
      json: object({
        blockId: named('BlockId'),
        maxResults: about('How many a page has at most.', count),
        count: about('How many this one has.', count),
        children: listOf(named('BlockId'), 1000),
      }),
    },
  },
  errors: [404],
  answer: async (request, services) => {
    const pageSize = readPageSize(request.query)
    if (!pageSize.ok) return toRest(pageSize.error)
    const page = readNumber(request.query, 'page')
    if (!page.ok) return toRest(page.error)
    const blockId = pathId(request, 'blockId', BlockId)
    if (!blockId.ok) return toRest(blockId.error)
    const asked = { page: page.value ?? 0, pageSize: pageSize.value }
    const children = await listChildren(services, blockId.value, asked)
    if (children === undefined) {
      return toRest({ code: 'NOT_FOUND', what: 'block', id: blockId.value })
    }
    return json(200, {
      blockId: blockId.value,
      maxResults: pageSize.value,
      count: children.length,
      children,
    })
  },
}))
