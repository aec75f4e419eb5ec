import { updateClasses } from '../../ledger/updates.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { maxSlot } from '../../protocol/slots.ts'
import type { LedgerUpdate, LogRange, LogTip, Milestone } from '../../store/rows.ts'

/** Positions by milestone in log order, as in the cursor and the start index of the REST route (rest.md 3.4). */

/** A position in the order of all updates, whether or not an update has it. */
export interface UpdatePosition {
  readonly milestoneIndex: SlotIndex
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** The cursor of the REST route: the position of the first record of the next page, and the page size. */
export interface PageCursor {
  readonly position: UpdatePosition
  /** Number of records, at least 1; the maximum page size is not applied yet. */
  readonly pageSize: number
}

/** A REST cursor that is not four parts of the documented form. */
export interface PageCursorMalformed {
  readonly code: 'PAGE_CURSOR_MALFORMED'
  /** The malformed part; `cursor` if there are not four parts. */
  readonly part: 'cursor' | 'milestoneIndex' | 'outputId' | 'isSpent' | 'pageSize'
}

/** Prints a cursor as `milestoneIndex.outputId.isSpent.pageSize`. */
export function printPageCursor({ position, pageSize }: PageCursor): string {
  return [position.milestoneIndex, position.outputId, position.isSpent, pageSize].join('.')
}

/** Parses the text of `printPageCursor`; hexadecimal digits may have either case. */
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
  const position = {
    milestoneIndex,
    outputId: outputId.toLowerCase() as OutputId,
    isSpent: isSpent === 'true',
  }
  return ok({ position, pageSize })
}

/** Parses a slot in decimal digits, from 0 to 2^32 - 1. */
export function parseSlot(text: string): SlotIndex | undefined {
  if (!/^[0-9]{1,10}$/.test(text)) return undefined
  const slot = Number(text)
  return slot <= maxSlot ? slot : undefined
}

/** Parses a page size in decimal digits, from 1 to 2^64 - 1; sizes above 2^53 - 1, the largest safe integer, count as that. */
export function parsePageSize(text: string): number | undefined {
  if (!/^[0-9]{1,20}$/.test(text)) return undefined
  const size = BigInt(text)
  if (size === 0n || size >> 64n !== 0n) return undefined
  return Math.min(Number(size), Number.MAX_SAFE_INTEGER)
}

/** An interval of the log; both positions are exclusive. */
export interface Interval {
  readonly after: number
  readonly before: number
}

/** The order of a list: log order, or the reverse. */
export type UpdateSort = 'OLDEST' | 'NEWEST'

/** The reads that the searches need. */
export interface PositionReader {
  updates(range: LogRange): Promise<readonly LedgerUpdate[]>
  milestone(slot: SlotIndex): Promise<Milestone | undefined>
}

/**
 * The part of the log from a position on, inclusive, in the direction of the list. About 20 single-row reads in a milestone of
 * a million rows.
 */
export async function fromPosition(
  reader: PositionReader,
  { sort, position, tip }: { sort: UpdateSort; position: UpdatePosition; tip: LogTip },
): Promise<Interval> {
  const milestone = await milestoneBelow(reader, position.milestoneIndex, tip)
  if (sort === 'OLDEST') {
    const first = await firstWhere(reader, milestone, (row) => comparePositions(row, position) >= 0)
    return { after: first - 1, before: tip.seq + 1 }
  }
  const before = await firstWhere(reader, milestone, (row) => comparePositions(row, position) > 0)
  return { after: 0, before }
}

/** The order inside a milestone: transaction id as bytes, then the output's index as a number, created before spent. */
function comparePositions(a: Omit<UpdatePosition, 'milestoneIndex'>, b: typeof a): number {
  const keyOfA = positionKey(a)
  const keyOfB = positionKey(b)
  if (keyOfA === keyOfB) return 0
  return keyOfA < keyOfB ? -1 : 1
}

/** A text that sorts like the position: the two bytes of the index, which is little-endian in the id, are swapped. */
function positionKey({ outputId, isSpent }: Omit<UpdatePosition, 'milestoneIndex'>): string {
  const index = outputId.slice(76, 78) + outputId.slice(74, 76)
  return outputId.slice(0, 74) + index + (isSpent ? '1' : '0')
}

type SeqRange = Pick<Milestone, 'firstSeq' | 'lastSeq'>

/** The rows of a milestone; an empty range at the end of the log for an uncommitted slot, at its start for a slot before genesis. */
async function milestoneBelow(
  reader: PositionReader,
  slot: SlotIndex,
  tip: LogTip,
): Promise<SeqRange> {
  if (slot > tip.slot) return { firstSeq: tip.seq + 1, lastSeq: tip.seq }
  return (await reader.milestone(slot)) ?? { firstSeq: 1, lastSeq: 0 }
}

/** Binary search for the first position of a milestone whose row passes; the position after the last row if none passes. */
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
  const rows = await reader.updates({ ...range, classes: updateClasses })
  return rows[0]
}

function isOutputId(text: string): text is OutputId {
  return /^0x[0-9a-fA-F]{76}$/.test(text)
}

function malformed(part: PageCursorMalformed['part']): Result<PageCursor, PageCursorMalformed> {
  return err({ code: 'PAGE_CURSOR_MALFORMED', part })
}
