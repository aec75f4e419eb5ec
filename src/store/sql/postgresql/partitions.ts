import type { RawTx } from '../../client.ts'
import type { LogForm, LogForms } from '../../partitions/log-forms.ts'
import type { LogPartition, PartitionStatements } from '../statements.ts'
import { quoted } from '../tables.ts'
import { createDrops } from './drops.ts'
import { processName } from './older-readers.ts'

/**
 * Statements on a log partitioned by ranges of positions (docs/decisions/046-partitions.md). The catalogue of PostgreSQL is the only
 * record of the partitions, so a log that an operator partitioned in this way works as well.
 */

/** Creates the partition statements of writing and pruning. `forms` caches the form of the log. */
export function partitionStatements(forms: LogForms): PartitionStatements {
  const drops = createDrops()

  async function readForm(tx: RawTx): Promise<LogForm> {
    const form = await formOfLog(tx)
    forms.record(form)
    return form
  }

  return {
    ofLog: async (tx) => (await readForm(tx)).partitions,

    async hiddenUpTo(tx) {
      await forms.settle(maxFormAgeMs)
      if (forms.form().partitions.length === 0) return 0
      const { partitions, prunedSeq } = await readForm(tx)
      return partitions.length === 0 ? 0 : prunedSeq
    },

    async createUpTo(tx, upTo) {
      await forms.settle(maxFormAgeMs)
      const known = forms.form()
      const end = known.partitions.at(-1)?.to ?? known.checkedTo
      if (end === undefined || upTo < end) return
      const { partitions, checkedTo } = await readForm(tx)
      // A conversion was abandoned, or is slower than the ledger. The ledger has priority, and the conversion starts again.
      if (checkedTo !== undefined && upTo >= checkedTo) await tx.$executeRawUnsafe(dropCheckText)
      let newest = partitions.at(-1)
      while (newest !== undefined && newest.to <= upTo)
        newest = await addPartition(tx, after(newest))
    },

    async isNextMissing(tx) {
      await forms.settle(maxFormAgeMs)
      const newest = forms.form().partitions.at(-1)
      // There is always one whole empty partition after the partition that receives rows.
      return newest !== undefined && newest.from <= (await endOfLog(tx))
    },

    async createNext(tx) {
      const newest = (await readForm(tx)).partitions.at(-1)
      if (newest === undefined || newest.from > (await endOfLog(tx))) return
      await addPartition(tx, after(newest))
      await readForm(tx)
    },

    drop: async (tx, partition) => {
      if (!(await drops.mayDrop(tx, partition))) return false
      if ((await longReader(tx)) !== undefined || !(await tryLockLog(tx))) return false
      await tx.$executeRawUnsafe(`DROP TABLE ${quoted(partition.name)}`)
      return true
    },
  }
}

/** Maximum age in milliseconds of the form of the log that a writer uses. It cannot fill the room that a conversion leaves in this time. */
const maxFormAgeMs = 500

export async function formOfLog(tx: RawTx): Promise<LogForm> {
  const rows = await tx.$queryRawUnsafe<object[]>(formText)
  return formOfRows(rows.map((row) => Object.values(row)))
}

/** Converts the rows of `formText` to the form of the log. */
export function formOfRows(rows: readonly (readonly unknown[])[]): LogForm {
  const [, , , check, seq, prunedSeq, isSharded] = rows[0] ?? []
  const found = rows.flatMap(([name, bound, isSplitting]) => {
    const [, from, to] =
      /^FOR VALUES FROM \('?(\w+)'?\) TO \('?(\d+)'?\)$/.exec(String(bound)) ?? []
    if (from === undefined || to === undefined) return []
    const partition = {
      name: String(name),
      from: from === 'MINVALUE' ? 0 : Number(from),
      to: Number(to),
    }
    return [{ partition, isSplitting: isSplitting === true }]
  })
  found.sort((a, b) => a.partition.from - b.partition.from)
  const checkedTo = /seq < \(?'?(\d+)/.exec(String(check))?.[1]
  return {
    partitions: found.map(({ partition }) => partition),
    named: found.flatMap(({ partition, isSplitting }) =>
      isSplitting || partition.to - 1 <= Number(prunedSeq ?? 0) ? [] : [partition],
    ),
    splitting: found.flatMap(({ partition, isSplitting }) => (isSplitting ? [partition] : [])),
    checkedTo: checkedTo === undefined ? undefined : Number(checkedTo),
    isSharded: isSharded === true,
    seq: Number(seq ?? 0),
    prunedSeq: Number(prunedSeq ?? 0),
  }
}

/** Name of the check that proves that the rows of a table fit into the range of its partition. */
export const rangeCheck = 'ledger_updates_range'

/** Comment on a partition that is about to be split, which statements must not name. */
export const splitComment = 'ledger-gateway: about to be split'

/** Reads one row for each partition, or one row if the log is one table. */
export const formText = `
  SELECT part.relname::text AS name, pg_get_expr(part.relpartbound, part.oid) AS bound,
    coalesce(obj_description(part.oid, 'pg_class') = '${splitComment}', false) AS "isSplitting",
    (SELECT pg_get_constraintdef(own.oid) FROM pg_constraint AS own
      WHERE own.conrelid = log.oid AND own.conname = '${rangeCheck}') AS check,
    (SELECT seq FROM published_tip) AS seq, (SELECT "prunedSeq" FROM published_tip) AS "prunedSeq",
    to_regproc('log_count') IS NOT NULL AS "isSharded"
  FROM pg_class AS log LEFT JOIN pg_inherits ON inhparent = log.oid
    LEFT JOIN pg_class AS part ON part.oid = inhrelid
  WHERE log.oid = to_regclass('ledger_updates')`

const dropCheckText = `ALTER TABLE ledger_updates DROP CONSTRAINT ${rangeCheck}`

/** Reads the last committed position, published or not. */
async function endOfLog(tx: RawTx): Promise<number> {
  const text = 'SELECT "lastSeq" AS seq FROM commitments ORDER BY slot DESC LIMIT 1'
  const [row] = await tx.$queryRawUnsafe<{ seq: bigint }[]>(text)
  return Number(row?.seq ?? 0)
}

/** Returns the partition that holds a range of positions. */
export function partitionOf(from: number, to: number): LogPartition {
  return { name: `ledger_updates_${from}_to_${to - 1}`, from, to }
}

/** Returns the partition after another one, by default with the same width. */
export function after({ from, to }: LogPartition, width = to - from): LogPartition {
  return partitionOf(to, to + width)
}

/**
 * Adds an empty partition. It takes two statements because `CREATE TABLE … PARTITION OF` would block all readers. Attaching a table
 * blocks only statements that change tables.
 */
export async function addPartition(tx: RawTx, added: LogPartition): Promise<LogPartition> {
  const { name, from, to } = added
  await tx.$executeRawUnsafe(`CREATE TABLE ${quoted(name)} (LIKE ledger_updates INCLUDING ALL)`)
  await tx.$executeRawUnsafe(
    `ALTER TABLE ledger_updates ATTACH PARTITION ${quoted(name)} FOR VALUES FROM (${from}) TO (${to})`,
  )
  return added
}

/**
 * Names the oldest session that has used the log for longer than a second, if any: an export, a check, or an abandoned session. Waiting
 * for its lock would block all other sessions.
 */
export async function longReader(tx: RawTx): Promise<string | undefined> {
  const [row] = await tx.$queryRawUnsafe<{ pid: number; name: string | null }[]>(longReaderText)
  return row && processName(row)
}

const longReaderText = `
  SELECT pid, application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE relation = to_regclass('ledger_updates') AND granted AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND coalesce(xact_start, '-infinity') < clock_timestamp() - interval '1 second'
  ORDER BY xact_start LIMIT 1`

/** Returns the name of a session that has a lock on a partition or on a table that becomes one; `undefined` if there is none. */
export async function sessionOnPartition(tx: RawTx): Promise<string | undefined> {
  const [row] = await tx.$queryRawUnsafe<{ pid: number; name: string | null }[]>(
    `SELECT pid, coalesce(nullif(application_name, ''), backend_type) AS name
    FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_class ON pg_class.oid = relation
    WHERE relname LIKE 'ledger\\_updates\\_%' AND relkind = 'r' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY xact_start LIMIT 1`,
  )
  return row && processName(row)
}

/**
 * Locks the log exclusively until the transaction ends, if possible within a quarter of a second: a waiting lock request already blocks
 * all other sessions. On a timeout it resolves to `false` and does not fail, so that the transaction can continue.
 */
export function tryLockLog(tx: RawTx): Promise<boolean> {
  return tryLock(tx, 'LOCK TABLE ledger_updates IN ACCESS EXCLUSIVE MODE')
}

/** Blocks all other writers of the ledger in the same way. Every writing transaction begins with this row. */
export function tryLockWriter(tx: RawTx): Promise<boolean> {
  return tryLock(tx, 'PERFORM FROM writer FOR UPDATE')
}

async function tryLock(tx: RawTx, statement: string): Promise<boolean> {
  await tx.$executeRawUnsafe(`DO $$ BEGIN
    SET LOCAL lock_timeout = '250ms';
    ${statement};
    PERFORM set_config('ledger_gateway.has_lock', 'yes', true);
  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    PERFORM set_config('ledger_gateway.has_lock', 'no', true);
  END $$`)
  const text = `SELECT current_setting('ledger_gateway.has_lock') = 'yes' AS locked`
  const [row] = await tx.$queryRawUnsafe<{ locked: boolean }[]>(text)
  return row?.locked === true
}
