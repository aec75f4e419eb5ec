import { hexToBytes } from '../../lib/hex.ts'
import type { Parameter } from '../database.ts'
import type { AddressPage, AddressPageQuery, LedgerUpdate, LogRange } from '../rows.ts'
import { classToNumber } from '../values.ts'
import { addressPageRead } from './address-page.ts'
import { hexOfText } from './columns.ts'
import { type ScannedRange, scanLog } from './log-partitions.ts'
import { publishedUpdates } from './published.ts'
import type { Reading } from './reading.ts'
import { anyColumns, anyUpdateOf, isFirstOfAddress, updateOf } from './update-rows.ts'
import { logTexts } from './update-texts.ts'

/** Reads of rows of the log with their branches. Each scan is one statement that both databases understand. */

export interface LogReads {
  /** Reads rows of one address and class, in the order of their index. */
  ofAddress(
    range: LogRange & Required<Pick<LogRange, 'address'>>,
    updateClass: LedgerUpdate['class'],
  ): Promise<LedgerUpdate[]>
  /** Reads rows of all addresses, by position. */
  ofLog(range: LogRange): Promise<LedgerUpdate[]>
  /** Reads the rows at positions, in no order. */
  atSeqs(seqs: readonly number[]): Promise<LedgerUpdate[]>
  /** Reads a page of an address with its count, the facts about its cursors, and the tip, in one snapshot. */
  page(request: AddressPageQuery): Promise<AddressPage>
}

export function logReads(reading: Reading): LogReads {
  const texts = logTexts(reading.dialect)

  return {
    ofAddress: async ({ address, ...range }, updateClass) => {
      const key = [hexToBytes(address), classToNumber(updateClass)]
      const scan = {
        on: (table: string) => texts.of(table)[range.order].ofAddress,
        withTip: (table: string) => texts.withTip(table)[range.order].ofAddress,
        parameters: withBounds(key),
        isFirst: isFirstOfAddress,
      }
      const rows = await scanLog(reading, scan, range)
      return rows.map((row) => updateOf(row, address, updateClass, hexOfText(row[8])))
    },
    ofLog: async ({ classes, ...range }) => {
      const [first = -1, second = first] = classes.map(classToNumber)
      const scan = {
        on: (table: string) => texts.of(table)[range.order].ofLog,
        withTip: (table: string) => texts.withTip(table)[range.order].ofLog,
        parameters: withBounds([first, second]),
      }
      return (await scanLog(reading, scan, range)).map(anyUpdateOf)
    },
    atSeqs: positionsRead(reading),
    page: addressPageRead(reading, texts),
  }
}

const withBounds =
  (key: readonly Parameter[]) =>
  ({ after, before, limit }: ScannedRange): readonly Parameter[] => [...key, after, before, limit]

function positionsRead({ query, dialect }: Reading): LogReads['atSeqs'] {
  const given = `SELECT seq FROM ${dialect.given([seqColumn])}`
  const atSeqs = `SELECT ${anyColumns(dialect)} ${
    dialect.shards?.atPositions(given) ??
    `FROM ${publishedUpdates('ledger_updates')}
    WHERE seq IN (${given})`
  }`

  return async (seqs) => {
    if (seqs.length === 0) return []
    const json = dialect.json(
      [seqColumn],
      seqs.map((seq) => [seq]),
    )
    return (await query(atSeqs, [json])).map(anyUpdateOf)
  }
}

const seqColumn = { name: 'seq', type: 'long' } as const
