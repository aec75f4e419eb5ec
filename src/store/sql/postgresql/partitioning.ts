import { present } from '../../../lib/assert.ts'
import type { RawTx } from '../../client.ts'
import type { LogPartition } from '../statements.ts'
import { quoted } from '../tables.ts'
import { addPartition, after, partitionOf, rangeCheck, splitComment } from './partitions.ts'

/** Statements that partition the log, and split a large partition. "Under the lock" means that the caller holds the lock of the log. */

/** Describes the database objects that depend on the table of the log. They would keep the old table, or stop working. */
export async function obstaclesOf(tx: RawTx): Promise<string[]> {
  const rows = await tx.$queryRawUnsafe<{ found: string }[]>(obstaclesText)
  return rows.map(({ found }) => found)
}

const log = `to_regclass('ledger_updates')`

const obstaclesText = `
  SELECT DISTINCT 'the view ' || rule.ev_class::regclass::text AS found FROM pg_depend AS depend
    JOIN pg_rewrite AS rule ON depend.classid = 'pg_rewrite'::regclass AND rule.oid = depend.objid
    WHERE depend.refobjid = ${log} AND rule.ev_class <> ${log}
  UNION ALL SELECT 'the trigger ' || tgname FROM pg_trigger WHERE tgrelid = ${log} AND NOT tgisinternal
  UNION ALL SELECT 'the foreign key ' || conname FROM pg_constraint
    WHERE contype = 'f' AND (conrelid = ${log} OR confrelid = ${log})
  UNION ALL SELECT 'the policy ' || polname FROM pg_policy WHERE polrelid = ${log}
  UNION ALL SELECT 'the publication ' || pubname FROM pg_publication_rel
    JOIN pg_publication AS own ON own.oid = prpubid WHERE prrelid = ${log}
  UNION ALL SELECT 'the table ' || inhrelid::regclass::text || ', which inherits from it'
    FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent
    WHERE inhparent = ${log} AND parent.relkind <> 'p'
  UNION ALL SELECT 'the unique index ' || indexrelid::regclass::text FROM pg_index
    WHERE indrelid = ${log} AND indisunique
      AND NOT (SELECT attnum FROM pg_attribute WHERE attrelid = ${log} AND attname = 'seq') = ANY (indkey)`

/** Adds the check that every row is before a position. It applies to new rows and does not read existing rows. Under the lock. */
export async function beginCheck(tx: RawTx, to: number): Promise<void> {
  await tx.$executeRawUnsafe(
    `ALTER TABLE ledger_updates ADD CONSTRAINT ${rangeCheck} CHECK (seq >= 1 AND seq < ${to}) NOT VALID`,
  )
}

/** Validates the check for existing rows. It reads all of them while others read and write. */
export const validateText = `ALTER TABLE ledger_updates VALIDATE CONSTRAINT ${rangeCheck}`

/**
 * Replaces the table of the log by a partitioned table. The old table becomes the first partition, and a second one is added. No row is
 * copied, and the validated check makes reading the rows unnecessary. Under the lock.
 */
export async function becomePartitioned(tx: RawTx, to: number, width: number): Promise<void> {
  const first = partitionOf(1, to)
  const name = quoted(first.name)
  const own = await tx.$queryRawUnsafe<{ owner: string }[]>(
    `SELECT quote_ident(pg_get_userbyid(relowner)) AS owner FROM pg_class WHERE oid = ${log}`,
  )
  const grants = await tx.$queryRawUnsafe<{ text: string }[]>(grantsText)
  const indexes = await tx.$queryRawUnsafe<{ name: string }[]>(
    `SELECT index.relname::text AS name FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
    WHERE indrelid = ${log}`,
  )
  await tx.$executeRawUnsafe(`ALTER TABLE ledger_updates RENAME TO ${name}`)
  for (const index of indexes) {
    const renamed = index.name.replace('ledger_updates', first.name)
    await tx.$executeRawUnsafe(`ALTER INDEX ${quoted(index.name)} RENAME TO ${quoted(renamed)}`)
  }
  await tx.$executeRawUnsafe(
    `CREATE TABLE ledger_updates (LIKE ${name} INCLUDING DEFAULTS INCLUDING INDEXES INCLUDING STORAGE INCLUDING COMMENTS)
    PARTITION BY RANGE (seq)`,
  )
  await attach(tx, first)
  const next = await addPartition(tx, after(first, width))
  const owner = present(own[0], 'the table of the log').owner
  for (const table of ['ledger_updates', next.name]) {
    await tx.$executeRawUnsafe(`ALTER TABLE ${quoted(table)} OWNER TO ${owner}`)
  }
  for (const { text } of grants) await tx.$executeRawUnsafe(text)
}

/** Reads the privileges of other roles on the log, as GRANT statements. */
const grantsText = `
  SELECT format('GRANT %s ON ledger_updates TO %s%s', privilege_type,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS text
  FROM pg_class, aclexplode(relacl) WHERE oid = ${log} AND grantee <> relowner`

/** Attaches a table whose check proves that its rows fit, and drops the check. */
async function attach(tx: RawTx, { name, from, to }: LogPartition): Promise<void> {
  await tx.$executeRawUnsafe(
    `ALTER TABLE ledger_updates ATTACH PARTITION ${quoted(name)} FOR VALUES FROM (${from}) TO (${to})`,
  )
  await tx.$executeRawUnsafe(`ALTER TABLE ${quoted(name)} DROP CONSTRAINT ${rangeCheck}`)
}

/** Finds tables that are not partitions yet or any more: copies of ranges, and former partitions that were split. */
export async function detachedTables(
  tx: RawTx,
): Promise<{ copies: LogPartition[]; former: string[] }> {
  const rows = await tx.$queryRawUnsafe<{ name: string }[]>(
    `SELECT relname::text AS name FROM pg_class
    WHERE relkind = 'r' AND NOT relispartition AND relname LIKE 'ledger\\_updates\\_%'
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${log})`,
  )
  const names = rows.map(({ name }) => name)
  const copies = names.flatMap((name) => {
    const [, from, last] = /^ledger_updates_(\d+)_to_(\d+)$/.exec(name) ?? []
    return last === undefined ? [] : [partitionOf(Number(from), Number(last) + 1)]
  })
  return { copies, former: names.filter((name) => name.startsWith(formerPrefix)) }
}

const formerPrefix = 'ledger_updates_former_'

export async function dropTables(tx: RawTx, names: readonly string[]): Promise<void> {
  for (const name of names) await tx.$executeRawUnsafe(`DROP TABLE IF EXISTS ${quoted(name)}`)
}

/** Creates the table of a copy, which accepts only rows of its range. `buildIndexes` adds its other indexes after the rows. */
export async function createCopy(tx: RawTx, { name, from, to }: LogPartition): Promise<void> {
  await tx.$executeRawUnsafe(
    `CREATE TABLE IF NOT EXISTS ${quoted(name)} (LIKE ledger_updates INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (seq),
      CONSTRAINT ${rangeCheck} CHECK (seq >= ${from} AND seq < ${to}))`,
  )
}

/** Copies the next rows that are not pruned, and resolves to their number. Copied rows stay valid because rows of the log never change. */
export async function copyRows(tx: RawTx, copy: LogPartition, limit: number): Promise<number> {
  const [row] = await tx.$queryRawUnsafe<{ names: string }[]>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
    WHERE attrelid = ${log} AND attnum > 0 AND NOT attisdropped`,
  )
  const { names } = present(row, 'columns')
  return tx.$executeRawUnsafe(
    `INSERT INTO ${quoted(copy.name)} (${names}) SELECT ${names} FROM ledger_updates
    WHERE seq > coalesce((SELECT max(seq) FROM ${quoted(copy.name)}),
        (SELECT greatest("prunedSeq", ${copy.from - 1}) FROM published_tip))
      AND seq < ${copy.to} ORDER BY seq LIMIT ${limit}`,
  )
}

/** Builds the indexes of the log that a copy lacks. */
export async function buildIndexes(tx: RawTx, { name }: LogPartition): Promise<void> {
  const textsOf = (table: string) =>
    tx.$queryRawUnsafe<{ text: string }[]>(
      `SELECT substring(pg_get_indexdef(indexrelid) FROM ' USING .*') AS text FROM pg_index
      WHERE indrelid = to_regclass('${quoted(table)}') AND NOT indisprimary`,
    )
  const there = (await textsOf(name)).map(({ text }) => text)
  const wanted = (await textsOf('ledger_updates')).map(({ text }) => text)
  for (const text of wanted.filter((one) => !there.includes(one))) {
    await tx.$executeRawUnsafe(`CREATE INDEX ON ${quoted(name)}${text}`)
  }
  await tx.$executeRawUnsafe(`ANALYZE ${quoted(name)}`)
}

/** Marks a partition that is about to be split, so that statements no longer name it. */
export async function markForSplit(tx: RawTx, name: string): Promise<void> {
  await tx.$executeRawUnsafe(`COMMENT ON TABLE ${quoted(name)} IS '${splitComment}'`)
}

/** Removes the mark of a partition whose split was abandoned. */
export async function unmarkForSplit(tx: RawTx, name: string): Promise<void> {
  await tx.$executeRawUnsafe(`COMMENT ON TABLE ${quoted(name)} IS NULL`)
}

/** Replaces a partition by its copies, and renames the old table. All rows must be copied already. Under the lock. */
export async function exchange(
  tx: RawTx,
  whole: LogPartition,
  copies: readonly LogPartition[],
): Promise<void> {
  await tx.$executeRawUnsafe(`ALTER TABLE ledger_updates DETACH PARTITION ${quoted(whole.name)}`)
  await tx.$executeRawUnsafe(
    `ALTER TABLE ${quoted(whole.name)} RENAME TO ${quoted(formerPrefix + whole.name.slice('ledger_updates_'.length))}`,
  )
  for (const copy of copies) await attach(tx, copy)
}
