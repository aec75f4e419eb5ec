import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { logTable } from '../sql/published.ts'
import type { Writing } from '../sql/statements.ts'
import { idFromBytes, numberToClass } from '../values.ts'
import { nextHistoryHash, noTip } from '../write/append.ts'
import { type CheckReport, maxFindings } from './findings.ts'

/** Checks the log of ledger updates: every history hash, every position, and that outputs agree with the rows. */
export async function checkLog(reading: Writing, report: CheckReport): Promise<void> {
  const retained = await readRetainedRange(reading)
  await checkPositions(reading, retained, report)
  let former: LogRow | undefined
  let tip = noTip
  for (;;) {
    report.signal.throwIfAborted()
    const rows = await rowsAfter(reading, retained, former)
    for (const row of rows) {
      const isSame =
        former?.class === row.class && Buffer.compare(former.address, row.address) === 0
      if (!isSame) tip = await tipBefore(reading, row)
      const slot = Number(row.milestoneIndex)
      const entry = {
        outputId: idFromBytes<'OutputId'>(row.outputId),
        isSpent: Boolean(row.isSpent),
      }
      const ordinal = Number(row.ordinal)
      const historyHash = bytesToHex(row.historyHash)
      const isNext =
        ordinal === tip.ordinal + 1 && historyHash === nextHistoryHash(tip.historyHash, slot, entry)
      if (!isNext) {
        const address = bytesToHex(row.address)
        report.found('HISTORY_BROKEN', `${address} ${numberToClass(row.class)} ordinal ${ordinal}`)
      }
      // The next row is checked against the stored row, so that one wrong row causes one or two findings.
      tip = { ordinal, historyHash }
      former = row
    }
    report.advance(rows.length)
    if (rows.length < rowsPerPage) return
  }
}

/** Range of the rows that belong to the log in the checked snapshot. Other rows may exist. */
export interface RetainedRange {
  /** Last pruned position. Pruned rows may still exist: in partitions until the whole partition is dropped, in shards for a while. */
  readonly hidden: number
  /** Last position of the snapshot: shards have no snapshot and may show newer rows. `undefined` if no newer rows are visible. */
  readonly upTo: number | undefined
}

export async function readRetainedRange({ tx, sql }: Writing): Promise<RetainedRange> {
  const isSharded = (await sql.shards?.detect(tx)) === true
  if (!isSharded) {
    return { hidden: (await sql.partitions?.hiddenUpTo(tx)) ?? 0, upTo: undefined }
  }
  const { lastSeq } = present(
    await tx.commitment.findFirst({ orderBy: { slot: 'desc' } }),
    'genesis commitment',
  )
  return { hidden: (await sql.shards?.hiddenUpTo(tx)) ?? 0, upTo: Number(lastSeq) }
}

function retainedUpdates({ hidden, upTo }: RetainedRange, name?: string): string {
  const isAll = hidden === 0 && upTo === undefined
  const bound = upTo === undefined ? '' : ` AND +seq <= ${upTo}`
  const retained = isAll ? logTable : `(SELECT * FROM ${logTable} WHERE +seq > ${hidden}${bound})`
  return name === undefined && isAll ? retained : `${retained} AS ${name ?? logTable}`
}

const rowsPerPage = 5_000

interface LogRow {
  readonly seq: bigint
  readonly address: Uint8Array
  readonly class: number
  readonly ordinal: bigint
  readonly milestoneIndex: bigint
  readonly outputId: Uint8Array
  readonly isSpent: boolean | bigint | number
  readonly historyHash: Uint8Array
}

/** Reads a page of rows in the order of addresses, so that the check holds the tip of one address in memory. */
function rowsAfter(
  { tx, sql }: Writing,
  retained: RetainedRange,
  former: LogRow | undefined,
): Promise<LogRow[]> {
  const after = 'WHERE (address, class, seq) > (?, ?, ?)'
  const text = `SELECT seq, address, class, ordinal, "milestoneIndex", "outputId", "isSpent", "historyHash"
    FROM ${retainedUpdates(retained)} ${former === undefined ? '' : after} ORDER BY address, class, seq LIMIT ${rowsPerPage}`
  const place = former === undefined ? [] : [former.address, former.class, former.seq]
  return tx.$queryRawUnsafe<LogRow[]>(sql.numbered(text), ...place)
}

/** Reads the tip before the first retained row of an address and class. */
async function tipBefore(
  { tx }: Writing,
  row: LogRow,
): Promise<{ ordinal: number; historyHash: Hex }> {
  if (Number(row.ordinal) === 1) return noTip
  const where = { address_class: { address: Uint8Array.from(row.address), class: row.class } }
  const pruned = await tx.prunedTip.findUnique({ where })
  if (pruned === null) return noTip
  return { ordinal: Number(pruned.ordinal), historyHash: bytesToHex(pruned.historyHash) }
}

/** Checks that positions have no gap and lie in the range of their milestone, and that outputs have the slots that the log states. */
async function checkPositions(
  { tx, sql }: Writing,
  retained: RetainedRange,
  report: CheckReport,
): Promise<void> {
  const misplaced = `SELECT log.seq FROM ${retainedUpdates(retained, 'log')}
    LEFT JOIN commitments AS own ON own.slot = log."milestoneIndex"
    WHERE own.slot IS NULL OR log.seq < own."firstSeq" OR log.seq > own."lastSeq"
    ORDER BY log.seq LIMIT ?`
  for (const { seq } of await tx.$queryRawUnsafe<{ seq: bigint }[]>(
    sql.numbered(misplaced),
    maxFindings,
  )) {
    report.found('LOG_POSITION_WRONG', `position ${seq}`)
  }
  const bounds = `SELECT count(*) AS rows, min(seq) AS first,
    (SELECT "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1) AS last FROM ${retainedUpdates(retained)}`
  const [found] =
    await tx.$queryRawUnsafe<{ rows: bigint; first: bigint | null; last: bigint }[]>(bounds)
  const first = Number(found?.first ?? 0)
  const expected = found?.first == null ? 0 : Number(found.last) - first + 1
  if (Number(found?.rows) !== expected) {
    report.found(
      'LOG_POSITION_WRONG',
      `${expected - Number(found?.rows)} rows from position ${first} on`,
    )
  }
  const untrue = `SELECT log.seq FROM ${retainedUpdates(retained, 'log')} LEFT JOIN outputs ON outputs.id = log."outputId"
    WHERE coalesce(CASE WHEN log."isSpent" THEN outputs."spentSlot" ELSE outputs."bookedSlot" END, -1)
      <> log."milestoneIndex" ORDER BY log.seq LIMIT ?`
  for (const { seq } of await tx.$queryRawUnsafe<{ seq: bigint }[]>(
    sql.numbered(untrue),
    maxFindings,
  )) {
    report.found('LOG_ROW_WRONG', `position ${seq}`)
  }
}
