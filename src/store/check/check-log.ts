import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { nextHistoryHash, noTip } from '../append.ts'
import { logTable } from '../sql/published.ts'
import type { Writing } from '../sql/statements.ts'
import { idFromBytes, numberToClass } from '../values.ts'
import type { CheckReport } from './findings.ts'

/** Checks the log of ledger updates: every history hash, every position, and that outputs and rows say the same. */
export async function checkLog(reading: Writing, report: CheckReport): Promise<void> {
  const kept = await keptIn(reading)
  await checkPositions(reading, kept, report)
  let former: LogRow | undefined
  let tip = noTip
  for (;;) {
    report.signal.throwIfAborted()
    const rows = await rowsAfter(reading, kept, former)
    for (const row of rows) {
      const isSame = former?.class === row.class && bytesAreSame(former.address, row.address)
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
      // What follows is judged by what is here, so that one row is one finding, or two.
      tip = { ordinal, historyHash }
      former = row
    }
    report.advance(rows.length)
    if (rows.length < rowsPerPage) return
  }
}

/** Which rows are of the log at the moment that is checked, where others may be there. */
export interface KeptLogRange {
  /** Rows up to here are pruned: of a log in partitions they go with their whole partition, of one in shards later. */
  readonly hidden: number
  /** Rows behind it are newer, for shards have no snapshot; `undefined` where no other is seen. */
  readonly upTo: number | undefined
}

/** Of the log that is read. */
export async function keptIn({ tx, sql }: Writing): Promise<KeptLogRange> {
  const isSharded = (await sql.shards?.look(tx)) === true
  if (!isSharded) {
    return { hidden: (await sql.partitions?.hiddenUpTo(tx)) ?? 0, upTo: undefined }
  }
  const { lastSeq } = present(
    await tx.commitment.findFirst({ orderBy: { slot: 'desc' } }),
    'genesis commitment',
  )
  return { hidden: (await sql.shards?.hiddenUpTo(tx)) ?? 0, upTo: Number(lastSeq) }
}

function keptUpdates({ hidden, upTo }: KeptLogRange, name?: string): string {
  const isAll = hidden === 0 && upTo === undefined
  const bound = upTo === undefined ? '' : ` AND +seq <= ${upTo}`
  const kept = isAll ? logTable : `(SELECT * FROM ${logTable} WHERE +seq > ${hidden}${bound})`
  return name === undefined && isAll ? kept : `${kept} AS ${name ?? logTable}`
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

/** In the order of addresses, so that memory holds the tip of one. */
function rowsAfter(
  { tx, sql }: Writing,
  kept: KeptLogRange,
  former: LogRow | undefined,
): Promise<LogRow[]> {
  const after = 'WHERE (address, class, seq) > (?, ?, ?)'
  const text = `SELECT seq, address, class, ordinal, "milestoneIndex", "outputId", "isSpent", "historyHash"
    FROM ${keptUpdates(kept)} ${former === undefined ? '' : after} ORDER BY address, class, seq LIMIT ${rowsPerPage}`
  const place = former === undefined ? [] : [former.address, former.class, former.seq]
  return tx.$queryRawUnsafe<LogRow[]>(sql.numbered(text), ...place)
}

/** What the first kept row of an address and class follows. */
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

function bytesAreSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

/** Positions have no gap and lie in the range of their milestone; an output was booked and spent when the log says so. */
async function checkPositions(
  { tx, sql }: Writing,
  kept: KeptLogRange,
  report: CheckReport,
): Promise<void> {
  const misplaced = `SELECT log.seq FROM ${keptUpdates(kept, 'log')}
    LEFT JOIN commitments AS own ON own.slot = log."milestoneIndex"
    WHERE own.slot IS NULL OR log.seq < own."firstSeq" OR log.seq > own."lastSeq"
    ORDER BY log.seq LIMIT ?`
  for (const { seq } of await tx.$queryRawUnsafe<{ seq: bigint }[]>(
    sql.numbered(misplaced),
    most,
  )) {
    report.found('LOG_POSITION_WRONG', `position ${seq}`)
  }
  const bounds = `SELECT count(*) AS rows, min(seq) AS first,
    (SELECT "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1) AS last FROM ${keptUpdates(kept)}`
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
  const untrue = `SELECT log.seq FROM ${keptUpdates(kept, 'log')} LEFT JOIN outputs ON outputs.id = log."outputId"
    WHERE coalesce(CASE WHEN log."isSpent" THEN outputs."spentSlot" ELSE outputs."bookedSlot" END, -1)
      <> log."milestoneIndex" ORDER BY log.seq LIMIT ?`
  for (const { seq } of await tx.$queryRawUnsafe<{ seq: bigint }[]>(sql.numbered(untrue), most)) {
    report.found('LOG_ROW_WRONG', `position ${seq}`)
  }
}

/** So many are named; where there are more, the table as a whole is wrong. */
const most = 100n
