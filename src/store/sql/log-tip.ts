import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { LogTip } from '../rows.ts'
import { noBranch } from '../values.ts'
import type { Dialect } from './bulk.ts'
import { hexOfText, id } from './columns.ts'
import type { Reading } from './reading.ts'
import type { Writing } from './statements.ts'

/**
 * The tip of the log of an initialized ledger, in one statement that both databases understand: nearly every request reads
 * it. Log id and branch are read each time, for the database may be replaced by another while this process runs.
 */
export function logTipRead({ query, dialect }: Reading): () => Promise<LogTip> {
  const text = tipText(dialect)
  return async () => tipOfRow((await query(text, []))[0])
}

/** The same inside a transaction, as it will be when that is committed. */
export async function logTipWithin({ tx, sql }: Writing): Promise<LogTip> {
  const [row] = await tx.$queryRawUnsafe<object[]>(tipText(sql.dialect))
  return tipOfRow(row && Object.values(row))
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
export function branchAt(dialect: Dialect, seq: string): string {
  return `coalesce((SELECT CASE WHEN "firstSeq" <= ${seq} THEN ${branchOfId(dialect, 'id')} END FROM commitments
    WHERE "lastSeq" >= ${seq} AND ${seq} > 0 ORDER BY "lastSeq", slot LIMIT 1), '${noBranch}')`
}

/** The branch of a commitment id: `branchOf` in SQL. */
export function branchOfId(dialect: Dialect, id: string): string {
  return dialect.hex(`substr(${id}, 1, ${(noBranch.length - 2) / 2})`)
}

/** The columns of the tip, from `tipTables`. */
export function tipColumns(dialect: Dialect) {
  return {
    seq: '"end"."lastSeq"',
    slot: '"end".slot',
    firstRow: '"start"."firstRow"',
    logId: dialect.hex('network."logId"'),
    commitmentId: dialect.hex('"end".id'),
    // Mostly the newest milestone has rows, and none are pruned: then there is nothing to look up.
    branch: `CASE WHEN "end"."firstSeq" <= "end"."lastSeq" THEN ${branchOfId(dialect, '"end".id')}
      ELSE ${branchAt(dialect, '"end"."lastSeq"')} END`,
    prunedBranch: `CASE WHEN "start"."firstRow" = 1 THEN '${noBranch}'
      ELSE ${branchAt(dialect, 'coalesce("start"."firstRow" - 1, "end"."lastSeq")')} END`,
  }
}

/** One row, or none before the genesis. */
export const tipTables = `FROM network
  CROSS JOIN (SELECT slot, id, "firstSeq", "lastSeq" FROM commitments
    ORDER BY slot DESC LIMIT 1) AS "end"
  CROSS JOIN (SELECT min(seq) AS "firstRow" FROM ledger_updates) AS "start"`

/** The tip from the values of its columns. */
export function tipOf(
  values: { readonly [C in keyof ReturnType<typeof tipColumns>]: unknown },
): LogTip {
  const seq = Number(values.seq)
  return {
    logId: hexOfText(values.logId),
    seq,
    branch: hexOfText(values.branch),
    slot: Number(values.slot),
    commitmentId: commitmentId.read(values.commitmentId),
    // If no row is left, all are removed.
    prunedSeq: values.firstRow === null ? seq : Number(values.firstRow) - 1,
    prunedBranch: hexOfText(values.prunedBranch),
  }
}

const commitmentId = id<'CommitmentId'>()

function tipText(dialect: Dialect): string {
  const columns = Object.entries(tipColumns(dialect)).map(
    ([name, column]) => `${column} AS "${name}"`,
  )
  return `SELECT ${columns.join(', ')} ${tipTables}`
}

/** In the order of `tipColumns`. */
function tipOfRow(row: readonly unknown[] | undefined): LogTip {
  const [seq, slot, firstRow, logId, commitmentId, branch, prunedBranch] = present(
    row,
    'genesis commitment',
  )
  return tipOf({ seq, slot, firstRow, logId, commitmentId, branch, prunedBranch })
}
