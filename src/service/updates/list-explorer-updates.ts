import { assert, present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd } from '../../protocol/slots.ts'
import type { LogRange, OwnedUpdate } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type LedgerUpdateView, maxPageSize, orderOf } from './list-ledger-updates.ts'
import {
  fromPosition,
  type PageCursor,
  printPageCursor,
  type UpdatePosition,
  type UpdateSort,
} from './update-position.ts'

/** Pages of the OWNED updates of an address, as the explorer API lists them (rest.md 3). */

/** Selects a page of the REST route. */
export interface ExplorerUpdatesRequest {
  readonly address: Hex
  readonly sort: UpdateSort
  /** Number of records, at least 1 and limited to 1,000. The cursor overrides it. */
  readonly pageSize: number
  /** First milestone, inclusive. The cursor overrides it. */
  readonly startMilestoneIndex: SlotIndex | undefined
  readonly cursor: PageCursor | undefined
}

/** A record of the REST route. */
export type ExplorerUpdate = Pick<
  LedgerUpdateView,
  'outputId' | 'isSpent' | 'milestoneIndex' | 'milestoneTimestamp'
>

/** A page of the REST route. */
export interface ExplorerPage {
  readonly updates: readonly ExplorerUpdate[]
  /** Cursor of the next page; left out if and only if there are no more records. */
  readonly cursor?: string
}

/** Lists a page of the OWNED updates of an address, like the original. Every request succeeds. */
export async function listExplorerUpdates(
  deps: Pick<Services, 'store' | 'parameters'>,
  { address, sort, pageSize, startMilestoneIndex, cursor }: ExplorerUpdatesRequest,
): Promise<ExplorerPage> {
  const size = Math.min(cursor?.pageSize ?? pageSize, maxPageSize)
  if (cursor !== undefined) await deps.store.read.reach({ slot: cursor.position.milestoneIndex })
  const rows = await ownedFrom(deps.store.read, {
    address,
    order: orderOf(sort),
    from:
      cursor?.position ??
      (startMilestoneIndex === undefined ? undefined : { milestoneIndex: startMilestoneIndex }),
    // Reads one row more than the page has, to find out whether there is a next page.
    limit: size + 1,
  })
  const updates = rows.slice(0, size).map(({ outputId, isSpent, milestoneIndex }) => ({
    outputId,
    isSpent,
    milestoneIndex,
    milestoneTimestamp: slotEnd(deps.parameters, milestoneIndex),
  }))
  const next = rows[size]
  if (next === undefined) return { updates }
  return { updates, cursor: printPageCursor({ position: next, pageSize: size }) }
}

interface OwnedRange {
  readonly address: Hex
  readonly order: LogRange['order']
  readonly from: UpdatePosition | Pick<UpdatePosition, 'milestoneIndex'> | undefined
  readonly limit: number
}

async function ownedFrom(
  read: Services['store']['read'],
  { from, ...range }: OwnedRange,
): Promise<readonly OwnedUpdate[]> {
  const { milestoneIndex: slot, ...position } = from ?? {}
  const start = slot === undefined ? undefined : { slot, ...position }
  const rows = await read.owned({ ...range, from: start })
  if (rows !== undefined) return rows
  // The milestone has too many rows of the address for one read: a binary search finds the position.
  assert(
    from !== undefined && 'outputId' in from,
    'only a position in a milestone can be far from its beginning',
  )
  const isAscending = range.order === 'ascending'
  const sort = isAscending ? 'OLDEST' : 'NEWEST'
  const { after, before } = await fromPosition(read, {
    sort,
    position: from,
    tip: await read.logTip(),
  })
  const seq = isAscending ? after + 1 : before - 1
  return present(await read.owned({ ...range, from: { seq } }), 'rows from a position')
}
