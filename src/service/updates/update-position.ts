import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { LedgerUpdate, LogRange, LogTip, Milestone } from '../../store/rows.ts'

/** Positions in the order of the log by milestone, as the REST route's cursor and start index name them (rest.md 3.4). */

/** The position of an update in the order of all updates, whether or not one lies there. */
export interface UpdatePosition {
  readonly milestoneIndex: SlotIndex
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** The cursor of the REST route: the first record of the next page, and how many records a page has. */
export interface PageCursor {
  readonly position: UpdatePosition
  /** At least 1, not yet cut to the greatest page. */
  readonly pageSize: number
}

/** A REST cursor that is not four parts of the documented form. */
export interface PageCursorMalformed {
  readonly code: 'PAGE_CURSOR_MALFORMED'
  /** Which of the four parts is wrong; `cursor` where there are not four. */
  readonly part: 'cursor' | 'milestoneIndex' | 'outputId' | 'isSpent' | 'pageSize'
}

/** The text `milestoneIndex.outputId.isSpent.pageSize`. */
export function printPageCursor({ position, pageSize }: PageCursor): string {
  return [position.milestoneIndex, position.outputId, position.isSpent, pageSize].join('.')
}

/** Reads what `printPageCursor` writes; hex digits in either case. */
export function parsePageCursor(text: string): Result<PageCursor, PageCursorMalformed> {
  const parts = text.split('.')
  const [milestone = '', outputId = '', isSpent = '', size = ''] = parts
  if (parts.length !== 4) return malformed('cursor')
  const milestoneIndex = parseSlot(milestone)
  if (milestoneIndex === undefined) return malformed('milestoneIndex')
  if (!isOutputId(outputId)) return malformed('outputId')
  if (isSpent !== 'true' && isSpent !== 'false') return malformed('isSpent')
  const pageSize = parsePageSize(size)
  if (pageSize === undefined) return malformed('pageSize')
  const position = { milestoneIndex, outputId: lowerCase(outputId), isSpent: isSpent === 'true' }
  return ok({ position, pageSize })
}

/** A slot in decimal digits, 0 to 2^32 - 1. */
export function parseSlot(text: string): SlotIndex | undefined {
  if (!/^[0-9]{1,10}$/.test(text)) return undefined
  const slot = Number(text)
  return slot <= 0xffff_ffff ? slot : undefined
}

/** How many records a page shall have, in decimal digits, from 1 up; sizes beyond 2^53 count as 2^53. */
export function parsePageSize(text: string): number | undefined {
  if (!/^[0-9]{1,20}$/.test(text)) return undefined
  const size = Number(text)
  return size > 0 ? Math.min(size, Number.MAX_SAFE_INTEGER) : undefined
}

/** Where the updates of an address list begin or end; both positions are exclusive. */
export interface Interval {
  readonly after: number
  readonly before: number
}

/** The order of a list: that of the log, or the reverse. */
export type UpdateSort = 'OLDEST' | 'NEWEST'

/** The whole log up to a tip. */
function wholeLog(tip: LogTip): Interval {
  return { after: 0, before: tip.seq + 1 }
}

/** What the searches need of the store. */
export interface PositionReader {
  updates(range: LogRange): Promise<readonly LedgerUpdate[]>
  milestone(slot: SlotIndex): Promise<Milestone | undefined>
}

/**
 * The part of the log from a position on, in the direction of the list; the position itself is part of it. Some 20 reads of
 * one row in a milestone of a million rows.
 */
export async function fromPosition(
  reader: PositionReader,
  { sort, position, tip }: { sort: UpdateSort; position: UpdatePosition; tip: LogTip },
): Promise<Interval> {
  const whole = wholeLog(tip)
  const milestone = await milestoneBelow(reader, position.milestoneIndex, tip)
  if (sort === 'OLDEST') {
    const first = await firstWhere(reader, milestone, (row) => comparePositions(row, position) >= 0)
    return { ...whole, after: first - 1 }
  }
  const before = await firstWhere(reader, milestone, (row) => comparePositions(row, position) > 0)
  return { ...whole, before }
}

/** The order inside a milestone: transaction id as bytes, then the output's index as a number, created before spent. */
function comparePositions(a: Omit<UpdatePosition, 'milestoneIndex'>, b: typeof a): number {
  const keyOfA = positionKey(a)
  const keyOfB = positionKey(b)
  if (keyOfA === keyOfB) return 0
  return keyOfA < keyOfB ? -1 : 1
}

/** Text that sorts as the position does: the index, little endian in the id, has its two bytes turned round. */
function positionKey({ outputId, isSpent }: Omit<UpdatePosition, 'milestoneIndex'>): string {
  const index = outputId.slice(76, 78) + outputId.slice(74, 76)
  return outputId.slice(0, 74) + index + (isSpent ? '1' : '0')
}

type SeqRange = Pick<Milestone, 'firstSeq' | 'lastSeq'>

/** The rows of a milestone; an empty range at the log's end for one not committed yet, at its start for one before genesis. */
async function milestoneBelow(
  reader: PositionReader,
  slot: SlotIndex,
  tip: LogTip,
): Promise<SeqRange> {
  if (slot > tip.slot) return { firstSeq: tip.seq + 1, lastSeq: tip.seq }
  return (await reader.milestone(slot)) ?? { firstSeq: 1, lastSeq: 0 }
}

/** The first position of a milestone whose row passes, or the position after its last; rows that pass follow those that do not. */
async function firstWhere(
  reader: PositionReader,
  { firstSeq, lastSeq }: SeqRange,
  passes: (row: LedgerUpdate) => boolean,
): Promise<number> {
  let low = firstSeq
  let high = lastSeq + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await rowAt(reader, middle)
    if (row !== undefined && passes(row)) high = middle
    else low = middle + 1
  }
  return low
}

async function rowAt(reader: PositionReader, seq: number): Promise<LedgerUpdate | undefined> {
  const range = { after: seq - 1, before: seq + 1, limit: 1, order: 'ascending' } as const
  const rows = await reader.updates({ ...range, classes: ['OWNED', 'MENTIONED'] })
  return rows[0]
}

function isOutputId(text: string): text is OutputId {
  return /^0x[0-9a-fA-F]{76}$/.test(text)
}

function lowerCase(outputId: OutputId): OutputId {
  return outputId.toLowerCase() as OutputId
}

function malformed(part: PageCursorMalformed['part']): Result<PageCursor, PageCursorMalformed> {
  return err({ code: 'PAGE_CURSOR_MALFORMED', part })
}
