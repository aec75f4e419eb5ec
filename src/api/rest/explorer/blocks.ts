import { err, ok, type Result } from '../../../lib/result.ts'
import { BlockId } from '../../../protocol/primitives.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import {
  type CarriedPayload,
  countSlotBlocks,
  listChildren,
  listSlotBlocks,
  positionOfBlock,
} from '../../../service/slots/explorer-lists.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import type { QueryParameterMalformed } from '../../errors/api-errors.ts'
import { about, asItIs, count, type FormMembers, id, listOf, object } from '../form.ts'
import { pageAt, pageCursor } from '../page-cursor.ts'
import { malformed, number32, pageSize, pathId, sort } from '../parameters.ts'
import { jsonReply } from '../reply.ts'
import { type Route, readRoute } from '../route.ts'
import { byId, byIndex, findMilestone, type MilestoneNaming } from './milestones.ts'

/** Routes for the blocks of a milestone, and for the children of a block (rest.md 3.1, 3.8). */

/** The block lists of a version of the explorer API. */
interface Dialect {
  readonly base: string
  readonly namings: readonly MilestoneNaming[]
  /** The form of the position in a cursor. */
  readonly position: RegExp
  /** The parts of the cursor by name. */
  readonly cursor: string
  /** Response members that only this version has. */
  readonly more: FormMembers
  moreOf(services: Services, slot: number): Promise<object>
  /** Prints the position of a block in a cursor. */
  print(block: CarriedPayload): string
  /** Parses the position in a cursor; returns the position in the order of arrival. */
  positionOf(services: Services, text: string): Promise<Result<number, QueryParameterMalformed>>
}

const v2: Dialect = {
  base: '/api/explorer/v2/milestones',
  namings: [byId('milestoneId'), byIndex],
  position: /^[0-9]{1,15}$/,
  cursor: 'whiteFlagIndex.pageSize',
  more: {},
  moreOf: async () => ({}),
  print: ({ position }) => String(position),
  positionOf: async (_services, text) => ok(Number(text)),
}

const v3: Dialect = {
  base: '/api/explorer/v3/commitments',
  namings: [byId('commitmentId'), byIndex],
  position: /^0x[0-9a-fA-F]{72}$/,
  cursor: 'blockId.pageSize',
  more: { count: about('Total number of blocks of the slot.', count) },
  moreOf: async (services, slot) => ({ count: await countSlotBlocks(services, slot) }),
  print: ({ blockId }) => blockId,
  positionOf: async (services, text) => {
    const blockId = parse(BlockId, text)
    const position = blockId.ok ? await positionOfBlock(services, blockId.value) : undefined
    return position === undefined
      ? malformed('cursor', 'the cursor of a block of the slot')
      : ok(position)
  },
}

const payloadType = asItIs({ type: ['integer', 'null'] })

/** Four routes: two ways to identify a milestone in each version. */
export const milestoneBlocksRoutes: readonly Route[] = [v2, v3].flatMap((dialect) =>
  dialect.namings.map((naming) => blocksRoute(dialect, naming)),
)

function blocksRoute(dialect: Dialect, naming: MilestoneNaming): Route {
  const cursor = pageCursor({
    position: '(0x)?[0-9a-fA-F]+',
    words: dialect.cursor,
    sentence: `Cursor from the previous page, in the form ${dialect.cursor}.`,
    read: (text) => (dialect.position.test(text) ? text : undefined),
  })
  return readRoute({
    path: `${dialect.base}/${naming.path}/blocks`,
    about: 'Returns the accepted blocks of a milestone, by arrival, newest or oldest first.',
    params: naming.params,
    query: { sort, pageSize, cursor: cursor.parameter },
    reply: jsonReply(
      'A page of blocks.',
      object({
        ...dialect.more,
        blocks: listOf(
          object({
            blockId: id('BlockId'),
            payloadType: about('Type of the payload; null if the block has none.', payloadType),
          }),
          maxPageSize,
        ),
        cursor: cursor.next,
      }),
    ),
    errors: [404],
    answer: async (given, services) => {
      const milestone = await findMilestone(naming, given, services)
      if (!milestone.ok) return milestone
      const at = pageAt(given)
      const from =
        at.from === undefined ? ok(undefined) : await dialect.positionOf(services, at.from)
      if (!from.ok) return from
      const { slot } = milestone.value
      const page = { ...at, sort: given.sort, from: from.value }
      const { blocks, next } = await listSlotBlocks(services, slot, page)
      return ok({
        ...(await dialect.moreOf(services, slot)),
        blocks,
        cursor: next && `${dialect.print(next)}.${at.pageSize}`,
      })
    },
  })
}

/** The children of a block, which are the blocks that refer to it, in both versions. */
export const childrenRoutes: readonly Route[] = ['v2', 'v3'].map((version) =>
  readRoute({
    path: `/api/explorer/${version}/blocks/{blockId}/children`,
    about:
      'Returns the blocks that refer to a block, in the order of their arrival. Not available in upstream mode.',
    params: { blockId: pathId(BlockId) },
    query: { pageSize, page: number32('Number of the page, from 0.', 0) },
    reply: jsonReply(
      'A page of block ids.',
      object({
        blockId: id('BlockId'),
        maxResults: about('Maximum number of elements per page.', count),
        count: about('Number of elements of this page.', count),
        children: listOf(id('BlockId'), maxPageSize),
      }),
    ),
    errors: [404],
    answer: async ({ blockId, page, pageSize: maxResults }, services) => {
      const children = await listChildren(services, blockId, { page, pageSize: maxResults })
      if (children === undefined) return err({ code: 'NOT_FOUND', what: 'block', id: blockId })
      return ok({ blockId, maxResults, count: children.length, children })
    },
  }),
)
