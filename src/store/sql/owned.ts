import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Parameter } from '../database.ts'
import type { OwnedQuery, OwnedUpdate } from '../rows.ts'
import { classToNumber } from '../values.ts'
import type { AddressScan, Dialect, RowsOfAddress } from './bulk.ts'
import { listedUpdates } from './bulk-tables.ts'
import { selected } from './columns.ts'
import { memoized, type ScannedRange, scanLog, withTip } from './log-partitions.ts'
import { scanOfAddress } from './log-scans.ts'
import { logTable, publishedCommitments } from './published.ts'
import type { Reading } from './reading.ts'

/** Pages of the explorer's list, each in one statement that both databases understand: the most frequent read. */

/** Row of the list with its position in the log. */
export type OwnedRow = OwnedUpdate & { readonly seq: number }

/**
 * Creates the read of the rows of an address in the class OWNED. It resolves to `undefined` if more than `maxSkipped` rows may lie before
 * the requested place in the milestone of that place.
 */
export function ownedRead(reading: Reading) {
  const { query, dialect } = reading
  const pagesOf = memoized((table) => ownedStatements(dialect, table))
  const pagesWithTip = memoized((table) => statementsWithTip(pagesOf(table)))
  const pages = pagesOf(logTable)
  const rows = async (sql: string, parameters: readonly Parameter[]) =>
    (await query(sql, parameters)).map(rowOf)

  return async ({
    address,
    order,
    from,
    limit,
  }: OwnedQuery): Promise<readonly OwnedRow[] | undefined> => {
    const page = pages[order]
    const key = hexToBytes(address)
    if (from === undefined || 'seq' in from) {
      const range = { ...rangeFrom(order, from?.seq), limit, order }
      const scan = {
        on: (table: string, some: ScannedRange) => pagesOf(table)[order][startIn(some)],
        withTip: (table: string, some: ScannedRange) => pagesWithTip(table)[order][startIn(some)],
        parameters: (some: ScannedRange) =>
          startIn(some) === 'atSeq' ? [key, firstOf(some), some.limit] : [key, some.limit],
      }
      return (await scanLog(reading, scan, range)).map(rowOf)
    }
    const { slot } = from
    if (!('outputId' in from)) return rows(page.atSlot, [key, slot, limit])
    const place = [...placeOf(from.outputId), from.isSpent]
    const found = await rows(page.atPlace, [key, slot, ...place, limit])
    if (found.length > 0) return found
    const beyond = await query(page.beyond, [key, slot])
    return beyond.length > 0 ? undefined : found
  }
}

const allPositions = { after: 0, before: Number.MAX_SAFE_INTEGER } as const

function rangeFrom(order: OwnedQuery['order'], seq: number | undefined) {
  if (seq === undefined) return allPositions
  return order === 'ascending'
    ? { ...allPositions, after: seq - 1 }
    : { ...allPositions, before: seq + 1 }
}

/** The statement of a scan of all positions contains no position. */
function startIn({ after, before }: ScannedRange): 'atSeq' | 'atEnd' {
  return after !== allPositions.after || before !== allPositions.before ? 'atSeq' : 'atEnd'
}

function firstOf({ after, before, order }: ScannedRange): number {
  return order === 'ascending' ? after + 1 : before - 1
}

/** Converts a row whose values are in the order of `listedUpdates`. A literal, because this is the most frequent read. */
function rowOf([seq, milestoneIndex, outputId, isSpent]: readonly unknown[]): OwnedRow {
  return {
    seq: Number(seq),
    milestoneIndex: Number(milestoneIndex),
    outputId: listedUpdates.read.outputId(outputId),
    isSpent: Boolean(isSpent),
  }
}

/** Rows of a milestone that a read skips at most to find a place in it. */
const maxSkipped = 200

function placeOf(outputId: OutputId): readonly Uint8Array[] {
  const bytes = hexToBytes(outputId as Hex)
  return [bytes.subarray(0, 36), bytes.subarray(37, 38), bytes.subarray(36, 37)]
}

const columns = 'address, class, seq, "milestoneIndex", "outputId", "isSpent"'

/** SQL of the order of places: transaction id, then the output index, whose two bytes are little-endian. */
const placeColumns =
  'substr("outputId", 1, 36), substr("outputId", 38, 1), substr("outputId", 37, 1)'

/**
 * The statements of the pages in both orders, and `beyond`, which finds out whether more than the skipped rows exist. A slot that is not
 * committed has no bound, because it has no rows yet.
 */
export function ownedStatements(dialect: Dialect, table = logTable) {
  const read = selected(dialect, listedUpdates)
  const slotSeq = (column: string, reaches: string, direction: string) =>
    `(SELECT "${column}" FROM ${publishedCommitments('own')} WHERE slot ${reaches} ?2 ORDER BY slot ${direction} LIMIT 1)`
  const owned = { address: '?1', class: classToNumber('OWNED'), table }
  const scan = (part: ScanPart, bounds: Pick<RowsOfAddress, 'from' | 'to'>) =>
    scanOfAddress(dialect, { ...owned, ...part, ...bounds })
  return {
    ascending: statements({
      read,
      order: dialect.byPosition('ASC'),
      reaches: '>=',
      slotSeq: slotSeq('firstSeq', '>=', 'ASC'),
      scan: (part, seq) =>
        scan({ ...part, direction: 'ASC' }, seq === undefined ? {} : { from: `>= ${seq}` }),
    }),
    descending: statements({
      read,
      order: dialect.byPosition('DESC'),
      reaches: '<=',
      slotSeq: slotSeq('lastSeq', '<=', 'DESC'),
      scan: (part, seq) =>
        scan({ ...part, direction: 'DESC' }, seq === undefined ? {} : { to: `<= ${seq}` }),
    }),
  }
}

/** The statements that begin at a position or at an end, after one row with the published tip. */
function statementsWithTip({ ascending, descending }: ReturnType<typeof ownedStatements>) {
  const toTip = ({ atEnd, atSeq }: ReturnType<typeof statements>) => ({
    atEnd: withTip("'', false", atEnd),
    atSeq: withTip("'', false", atSeq),
  })
  return { ascending: toTip(ascending), descending: toTip(descending) }
}

type ScanPart = Pick<AddressScan, 'direction' | 'limit' | 'offset'>

interface InOneOrder {
  readonly read: string
  /** SQL of the order of the rows of an address. */
  readonly order: string
  readonly reaches: '>=' | '<='
  /** SQL of the first position of a slot in this order. */
  readonly slotSeq: string
  /** SQL of the rows of the address in this order, from a position on or from the beginning. */
  scan(part: Omit<ScanPart, 'direction'>, seq?: string): string
}

/** Composes the statements. Each composition costs as much as reading some rows, so callers cache the result. */
function statements({ read, order, reaches, slotSeq, scan }: InOneOrder) {
  // The statement finds the place first, so that it reads the page like one without a place. The inner limit bounds the work in a
  // milestone with many rows of the address. The outer order is that of the scan, so that PostgreSQL ends the scan at the place:
  // for another order it reads and sorts all rows up to the inner limit.
  const place = `(SELECT seq FROM (SELECT ${columns} ${scan({ limit: `${maxSkipped}` }, slotSeq)}) AS near
    WHERE "milestoneIndex" <> ?2 OR (${placeColumns}, "isSpent") ${reaches} (?3, ?4, ?5, ?6)
    ORDER BY ${order} LIMIT 1)`
  return {
    atEnd: `SELECT ${read} ${scan({ limit: '?2' })}`,
    atSeq: `SELECT ${read} ${scan({ limit: '?3' }, '?2')}`,
    atSlot: `SELECT ${read} ${scan({ limit: '?3' }, slotSeq)}`,
    atPlace: `SELECT ${read} ${scan({ limit: '?7' }, place)}`,
    beyond: `SELECT seq ${scan({ limit: '1', offset: maxSkipped }, slotSeq)}`,
  }
}
