import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { StoreReader } from '../contract.ts'
import type { LogTip } from '../rows.ts'
import { noBranch } from '../values.ts'
import type { Dialect } from './bulk.ts'
import { commitments } from './bulk-tables.ts'
import { hexOfText, id, selected } from './columns.ts'
import { publishedCommitments } from './published.ts'
import type { Reading } from './reading.ts'
import type { RawWriting } from './statements.ts'

/**
 * The tip of the log of an initialized ledger, in one statement that both databases understand: nearly every request reads
 * it. Log id and branch are read each time, for the database may be replaced by another while this process runs.
 */
export function logTipRead({ query, dialect }: Reading): () => Promise<LogTip> {
  const text = tipText(dialect)
  return async () => tipOfRow((await query(text, []))[0])
}

/**
 * The tip with its milestone, in one statement for both, where it is kept for as long as it is of one moment: many fields of an answer
 * ask for either.
 */
export function headReads({ query, dialect }: Reading) {
  const columns = tipColumns(dialect)
  const text = `SELECT ${namedColumns(columns)}, ${selected(dialect, commitments)}
    FROM network CROSS JOIN published_tip AS tip JOIN commitments ON commitments.slot = tip.slot`
  const tipLength = Object.keys(columns).length
  /** Of the row that was read last: it is the same one for as long as it is of one moment. */
  let last: { readonly row: readonly unknown[] | undefined; readonly tip: LogTip } | undefined
  return {
    logTip: async () => {
      const [row] = await query(text, [])
      if (last === undefined || last.row !== row) last = { row, tip: tipOfRow(row) }
      return last.tip
    },
    latestMilestone: async () => {
      const [row] = await query(text, [])
      return commitments.rowOf(present(row, 'genesis commitment').slice(tipLength))
    },
  } satisfies Partial<StoreReader>
}

/** The end of the log inside a transaction, published or not. */
export async function logEndWithin({ tx, sql }: RawWriting): Promise<LogTip> {
  const [row] = await tx.$queryRawUnsafe<object[]>(endText(sql))
  return tipOfRow(row && Object.values(row))
}

/** The branch of a position inside a transaction. */
export async function branchWithin({ tx, sql }: RawWriting, seq: number): Promise<Hex> {
  const text = `SELECT ${branchAt(sql.dialect, String(seq), 'commitments')} AS branch`
  const [row] = await tx.$queryRawUnsafe<{ branch: string }[]>(text)
  return hexOfText(row?.branch)
}

/** The branches of some positions, all as of one moment; zeros for those that the log does not reach. */
export function branchesRead({ query, dialect }: Reading) {
  return async (seqs: readonly number[]): Promise<readonly Hex[]> => {
    const columns = seqs.map((_seq, i) => branchAt(dialect, `?${i + 1}`))
    const [row = []] = await query(`SELECT ${columns.join(', ')}`, seqs)
    return row.map(hexOfText)
  }
}

/**
 * The branch of a position, zeros at 0, beyond the log, and before the first milestone of a log that begins with a snapshot. The
 * first milestone that reaches a position is the one that holds its row: empty ones end where the former one does.
 */
export function branchAt(
  dialect: Dialect,
  seq: string,
  commitments = publishedCommitments('own'),
): string {
  return `coalesce((SELECT CASE WHEN "firstSeq" <= ${seq} THEN ${branchOfId(dialect, 'id')} END FROM ${commitments}
    WHERE "lastSeq" >= ${seq} AND ${seq} > 0 ORDER BY "lastSeq", slot LIMIT 1), '${noBranch}')`
}

/** The branch of a commitment id: `branchOf` in SQL. */
export function branchOfId(dialect: Dialect, id: string): string {
  return dialect.hex(`substr(${id}, 1, ${(noBranch.length - 2) / 2})`)
}

/** The columns of the tip, from `tipTables`. */
export function tipColumns(dialect: Dialect) {
  return {
    seq: 'tip.seq',
    slot: 'tip.slot',
    prunedSeq: 'tip."prunedSeq"',
    logId: dialect.hex('network."logId"'),
    commitmentId: dialect.hex('tip."commitmentId"'),
    branch: 'tip.branch',
    prunedBranch: 'tip."prunedBranch"',
  }
}

/** One row, or none before the genesis. */
export const tipTables = 'FROM network CROSS JOIN published_tip AS tip'

/** The tip from the values of its columns. */
export function tipOf(
  values: { readonly [C in keyof ReturnType<typeof tipColumns>]: unknown },
): LogTip {
  return {
    logId: hexOfText(values.logId),
    seq: Number(values.seq),
    branch: hexOfText(values.branch),
    slot: Number(values.slot),
    commitmentId: commitmentId.read(values.commitmentId),
    prunedSeq: Number(values.prunedSeq),
    prunedBranch: hexOfText(values.prunedBranch),
  }
}

const commitmentId = id<'CommitmentId'>()

function tipText(dialect: Dialect): string {
  return `SELECT ${namedColumns(tipColumns(dialect))} ${tipTables}`
}

/** The same as the tables have it. */
function endText({ dialect, shards }: RawWriting['sql']): string {
  const newest = (name: string) => `(SELECT ${name} FROM commitments ORDER BY slot DESC LIMIT 1)`
  // Rows in shards are hidden before they go.
  const prunedSeq =
    shards?.isOn() === true
      ? '(SELECT "prunedSeq" FROM published_tip)'
      : `coalesce((SELECT min(seq) - 1 FROM ledger_updates), ${newest('"lastSeq"')})`
  const columns: ReturnType<typeof tipColumns> = {
    seq: newest('"lastSeq"'),
    slot: newest('slot'),
    prunedSeq,
    logId: dialect.hex('network."logId"'),
    commitmentId: newest(dialect.hex('id')),
    branch: branchAt(dialect, newest('"lastSeq"'), 'commitments'),
    prunedBranch: branchAt(dialect, prunedSeq, 'commitments'),
  }
  return `SELECT ${namedColumns(columns)} FROM network`
}

function namedColumns(columns: ReturnType<typeof tipColumns>): string {
  return Object.entries(columns)
    .map(([name, column]) => `${column} AS "${name}"`)
    .join(', ')
}

/** In the order of `tipColumns`. */
function tipOfRow(row: readonly unknown[] | undefined): LogTip {
  const [seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch] = present(
    row,
    'genesis commitment',
  )
  return tipOf({ seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch })
}
