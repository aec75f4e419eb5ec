import { assert, present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import type { Tx } from '../client.ts'
import type { Database } from '../database.ts'
import type { LogTip } from '../rows.ts'
import { branchOf, idFromBytes, noBranch } from '../values.ts'

/**
 * The tip of the log of an initialized ledger, in one statement that both databases understand: nearly every request reads
 * it. Log id and branch are read each time, for the database may be replaced by another while this process runs.
 */
export async function readLogTip(ask: Database['query']): Promise<LogTip> {
  const [row] = await ask(statement, [])
  const [logId, slot, id, lastSeq, firstRow, ofLast, ofPruned] = present(row, 'genesis commitment')
  assert(
    logId instanceof Uint8Array && id instanceof Uint8Array,
    'log ids and commitment ids are bytes',
  )
  const seq = Number(lastSeq)
  // If no row is left, all are removed.
  const prunedSeq = firstRow === null ? seq : Number(firstRow) - 1
  return {
    logId: bytesToHex(logId),
    seq,
    branch: branchAt(seq, ofLast),
    slot: Number(slot),
    commitmentId: idFromBytes(id),
    prunedSeq,
    prunedBranch: branchAt(prunedSeq, ofPruned),
  }
}

/** The same inside a transaction, as it will be when that is committed. */
export function logTipWithin(tx: Tx): Promise<LogTip> {
  return readLogTip(async (sql) => (await tx.$queryRawUnsafe<object[]>(sql)).map(Object.values))
}

/** The branches of some positions, all as of one moment; zeros for those that the log does not reach. */
export async function readBranches(
  ask: Database['query'],
  seqs: readonly number[],
): Promise<readonly Hex[]> {
  // Each with a name of its own: columns of one name are one column to the driver of PostgreSQL.
  const columns = seqs.map((_seq, i) => `${commitmentOf('?')} AS "at${i}"`)
  const [row = []] = await ask(`SELECT ${columns.join(', ')}`, seqs)
  return seqs.map((seq, i) => branchAt(seq, row[i]))
}

function branchAt(seq: number, id: unknown): Hex {
  return seq > 0 && id instanceof Uint8Array ? branchOf(idFromBytes(id)) : noBranch
}

/** The first milestone that reaches a position is the one that holds its row: empty ones end where the former one does. */
function commitmentOf(seq: string): string {
  return `(SELECT id FROM commitments
    WHERE "lastSeq" >= ${seq} ORDER BY "lastSeq", slot LIMIT 1)`
}

const statement = `
  SELECT "logId", "end".slot, "end".id, "end"."lastSeq", "start"."firstRow",
    ${commitmentOf('"end"."lastSeq"')} AS "ofLast",
    ${commitmentOf('coalesce("start"."firstRow" - 1, "end"."lastSeq")')} AS "ofPruned"
  FROM network
    CROSS JOIN (SELECT slot, id, "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1) AS "end"
    CROSS JOIN (SELECT min(seq) AS "firstRow" FROM ledger_updates) AS "start"`
