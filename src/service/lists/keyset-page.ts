import type { CursorError } from '../../feed/cursor.ts'
import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import {
  type Between,
  type PageOrder,
  type Position,
  rowsPerTurn,
} from '../../store/contract/list.ts'
import { comparePositions } from '../../store/positions.ts'
import type { Services } from '../services.ts'
import {
  type MilestoneRangeReversed,
  type PageSizeOutOfRange,
  sizeFault,
} from '../updates/list-ledger-updates.ts'
import type { UpdateSort } from '../updates/update-position.ts'
import type { Cursors } from './keyset-cursor.ts'

/** Pages of a list by the arguments of a connection: cursors apply first, then `first`, then `last` (Relay connections, 4.4). */

export type { PageOrder } from '../../store/contract/list.ts'

export const defaultListSize = 20

/** Selects a page. With NEWEST the order is reversed: `after` means older. */
export interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
  readonly sort: UpdateSort
}

/** A list in the order of its positions, the oldest first. */
export interface KeysetList<Row> {
  readonly cursors: Cursors
  /** Default size of a page; `defaultListSize` if left out. */
  readonly defaultSize?: number
  /** The bounds of the whole list; both are exclusive. */
  readonly whole: Between
  positionOf(row: Row): Position
  read(part: Between, page: PageOrder): Promise<readonly Row[]>
}

/** A page of a list. Whether more rows exist against the direction of the read costs a separate read. */
export interface KeysetPage<Row> {
  readonly nodes: readonly Row[]
  /** The cursor of the node at an index of the page, which must exist. Computed on demand, because few requests need all cursors. */
  cursorAt(index: number): string
  readonly hasNextPage: () => Promise<boolean>
  readonly hasPreviousPage: () => Promise<boolean>
}

/** A part of a list, and the page to read of it; `A` identifies the list. */
export type Part<A> = A & Between & { readonly page: PageOrder }

/** Reads a page of a part. A transport may batch concurrent reads. */
export type ReadPart<A, Row> = (part: Part<A>) => Promise<readonly Row[]>

/** Reads pages of several parts, all with the same page order. The number of statements does not depend on the number of parts. */
export type ReadParts<A, Row> = (
  deps: Pick<Services, 'store'>,
  parts: readonly Part<A>[],
  page: PageOrder,
) => Promise<Row[][]>

/** Why a page was refused. */
export type ListError = CursorError | PageSizeOutOfRange

/** A page, or the error of the page arguments or of the list (`E`). */
export type Paged<Row, E = never> = Promise<Result<KeysetPage<Row>, ListError | E>>

/** Reads a page, with one read for each `rowsPerTurn` rows. Rows that appear or disappear between pages do not shift the others. */
export async function readKeysetPage<Row>(list: KeysetList<Row>, args: PageArguments): Paged<Row> {
  const fault = sizeFault('first', args.first) ?? sizeFault('last', args.last)
  if (fault !== undefined) return err(fault)
  const after = args.after == null ? ok(undefined) : list.cursors.decode(args.after, 'after')
  if (!after.ok) return after
  const before = args.before == null ? ok(undefined) : list.cursors.decode(args.before, 'before')
  if (!before.ok) return before
  const isOldest = args.sort === 'OLDEST'
  const [low, high] = isOldest ? [after.value, before.value] : [before.value, after.value]
  const part = {
    above: low === undefined ? list.whole.above : clamped(low, list.whole),
    below: high === undefined ? list.whole.below : clamped(high, list.whole),
  }
  const isBackward = args.first == null && args.last != null
  const limit = args.first ?? args.last ?? list.defaultSize ?? defaultListSize
  const order = isOldest === isBackward ? 'descending' : 'ascending'
  // Reads one row more than the page has, to find out whether there are more rows.
  const found = await readInBatches(list, part, { order, limit: limit + 1 })
  const read = isBackward ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const cut = isBackward || args.last == null ? 0 : Math.max(0, read.length - args.last)
  const isBeyond = async () => found.length > limit || (await liesOutside(list, part, order))
  const isBehind = async () => cut > 0 || (await liesOutside(list, part, opposite(order)))
  const nodes = read.slice(cut)
  return ok({
    nodes,
    cursorAt: (index) => list.cursors.encode(list.positionOf(present(nodes[index], 'a node'))),
    hasNextPage: isBackward ? isBehind : isBeyond,
    hasPreviousPage: isBackward ? isBeyond : isBehind,
  })
}

/** A position within the bounds of a list: a cursor may have a number that the columns of the database cannot hold. */
function clamped(position: Position, { above, below }: Between): Position {
  if (comparePositions(position, above) <= 0) return above
  return comparePositions(position, below) < 0 ? position : below
}

/** Reads a large page in several statements, because a statement of SQLite blocks the event loop. */
async function readInBatches<Row>(
  { read, positionOf }: KeysetList<Row>,
  { above, below }: Between,
  { order, limit }: PageOrder,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let rest: Between = { above, below }; ; ) {
    const wanted = Math.min(limit - rows.length, rowsPerTurn)
    const batch = await read(rest, { order, limit: wanted })
    rows.push(...batch)
    const last = batch.at(-1)
    if (last === undefined || batch.length < wanted || rows.length === limit) return rows
    const place = positionOf(last)
    rest = order === 'ascending' ? { ...rest, above: place } : { ...rest, below: place }
    await passTurn()
  }
}

/** Reads a page of a list whose parts are read by a transport; `which` identifies the list. */
export function readPartPage<A, Row extends object>(
  read: ReadPart<A, Row>,
  which: A,
  list: Omit<KeysetList<Row>, 'read'>,
  args: PageArguments,
): Paged<Row> {
  return readKeysetPage({ ...list, read: (part, page) => read({ ...part, ...which, page }) }, args)
}

/** Whether the list has rows beyond the end of a part at which a scan in this order ends; reads the outermost row of the list. */
async function liesOutside<Row>(
  { whole, read, positionOf }: KeysetList<Row>,
  { above, below }: Between,
  order: PageOrder['order'],
): Promise<boolean> {
  const isUp = order === 'ascending'
  if (isUp ? below === whole.below : above === whole.above) return false
  const [last] = await read(whole, { order: opposite(order), limit: 1 })
  if (last === undefined) return false
  const place = positionOf(last)
  return isUp ? comparePositions(place, below) >= 0 : comparePositions(place, above) <= 0
}

function opposite(order: PageOrder['order']): PageOrder['order'] {
  return order === 'ascending' ? 'descending' : 'ascending'
}

/** A range of milestones; both ends are inclusive. */
export interface MilestoneBounds {
  readonly fromMilestone?: SlotIndex | null | undefined
  readonly toMilestone?: SlotIndex | null | undefined
}

/** A list that is ordered by slot first; `beforeSlot` is the rest of a position before all rows of a slot. */
export interface SlotList<Row> extends Omit<KeysetList<Row>, 'whole'> {
  readonly beforeSlot: Position
}

/** Reads a page of the rows within a range of milestones. */
export async function readSlotPage<Row>(
  { beforeSlot, ...list }: SlotList<Row>,
  bounds: MilestoneBounds,
  args: PageArguments,
): Paged<Row, MilestoneRangeReversed> {
  const slots = slotsWithin(bounds)
  if (!slots.ok) return slots
  const { from, to } = slots.value
  const whole = { above: [from, ...beforeSlot], below: [to + 1, ...beforeSlot] }
  return await readKeysetPage({ ...list, whole }, args)
}

/** The slots of a range of milestones; both ends are inclusive. */
export function slotsWithin({
  fromMilestone,
  toMilestone,
}: MilestoneBounds): Result<
  { readonly from: SlotIndex; readonly to: SlotIndex },
  MilestoneRangeReversed
> {
  const from = fromMilestone ?? 0
  const to = toMilestone ?? Number.MAX_SAFE_INTEGER - 1
  return from > to ? err({ code: 'MILESTONE_RANGE_REVERSED', from, to }) : ok({ from, to })
}
