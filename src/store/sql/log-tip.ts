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
 * Creates the read of the tip of the log of an initialized ledger, in one statement that both databases understand. Nearly every request
 * reads it. It includes the log id and branch each time, because the database may be replaced while this process runs.
 */
export function logTipRead({ query, dialect }: Reading): () => Promise<LogTip> {
  const text = tipText(dialect)
  return async () => tipOfRow((await query(text, []))[0])
}

/**
 * Creates the reads of the tip and of its milestone for a snapshot that caches the rows of a statement. Both run the same statement,
 * because many fields of a response need one of them.
 */
export function headReads({ query, dialect }: Reading) {
  const columns = tipColumns(dialect)
  const text = `SELECT ${namedColumns(columns)}, ${selected(dialect, commitments)}
    FROM network CROSS JOIN published_tip AS tip JOIN commitments ON commitments.slot = tip.slot`
  const tipLength = Object.keys(columns).length
  /** Tip of the row that was read last. The same snapshot returns the same row. */
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

/** Reads the end of the log inside a transaction, published or not. */
export async function logEndWithin({ tx, sql }: RawWriting): Promise<LogTip> {
  const [row] = await tx.$queryRawUnsafe<object[]>(endText(sql))
  return tipOfRow(row && Object.values(row))
}

/** Reads the branch of a position inside a transaction. */
export async function branchWithin({ tx, sql }: RawWriting, seq: number): Promise<Hex> {
  const text = `SELECT ${branchAt(sql.dialect, String(seq), 'commitments')} AS branch`
  const [row] = await tx.$queryRawUnsafe<{ branch: string }[]>(text)
  return hexOfText(row?.branch)
}

/** Creates the read of the branches of several positions in one snapshot. A position beyond the log has a branch of zeros. */
export function branchesRead({ query, dialect }: Reading) {
  return async (seqs: readonly number[]): Promise<readonly Hex[]> => {
    const columns = seqs.map((_seq, i) => branchAt(dialect, `?${i + 1}`))
    const [row = []] = await query(`SELECT ${columns.join(', ')}`, seqs)
    return row.map(hexOfText)
  }
}

/**
 * SQL of the branch of a position. It is zeros at 0, beyond the log, and before the first milestone of a log that begins with a ledger
 * snapshot. The first milestone that ends at or after a position holds its row: an empty milestone ends where the one before it ends.
 */
export function branchAt(
  dialect: Dialect,
  seq: string,
  commitments = publishedCommitments('own'),
): string {
  return `coalesce((SELECT CASE WHEN "firstSeq" <= ${seq} THEN ${branchOfId(dialect)} END FROM ${commitments}
    WHERE "lastSeq" >= ${seq} AND ${seq} > 0 ORDER BY "lastSeq", slot LIMIT 1), '${noBranch}')`
}

/** SQL of the branch of the column `id` of a commitment, as `branchOf` computes it. */
export function branchOfId(dialect: Dialect): string {
  return dialect.hex(`substr(id, 1, ${(noBranch.length - 2) / 2})`)
}

/** SQL columns of the tip, selected from `tipTables`. */
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

/** Tables of the tip: one row, or none before the genesis. */
export const tipTables = 'FROM network CROSS JOIN published_tip AS tip'

/** Converts the values of the columns to a tip. */
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

/** Statement that computes the tip from the tables and not from the published tip. */
function endText({ dialect, shards }: RawWriting['sql']): string {
  const newest = (name: string) => `(SELECT ${name} FROM commitments ORDER BY slot DESC LIMIT 1)`
  // Pruned rows in shards are hidden before they are deleted.
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

/** Converts a row whose values are in the order of `tipColumns`. */
function tipOfRow(row: readonly unknown[] | undefined): LogTip {
  const [seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch] = present(
    row,
    'genesis commitment',
  )
  return tipOf({ seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch })
}
