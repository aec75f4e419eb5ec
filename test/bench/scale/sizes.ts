import { statSync } from 'node:fs'
import type { Database } from '../../../src/store/database.ts'

/** How much room the tables of a database take. */

/** A table or an index with what it takes. */
export interface Size {
  readonly name: string
  /** Of the table. */
  readonly table: string
  readonly bytes: number
}

/** Every table and index, the largest first. */
export async function sizesOf({ kind, writer }: Database): Promise<Size[]> {
  const sql = kind === 'sqlite' ? sqliteSizes : postgresqlSizes
  const rows =
    await writer.$queryRawUnsafe<{ name: string; owner: string; bytes: bigint | number }[]>(sql)
  return rows.map(({ name, owner, bytes }) => ({ name, table: owner, bytes: Number(bytes) }))
}

/** Of all of it, as the disk has it. */
export async function totalSize({ kind, writer }: Database, url: string): Promise<number> {
  if (kind === 'sqlite') return statSync(url.slice('file:'.length)).size
  const [row] = await writer.$queryRawUnsafe<{ bytes: bigint }[]>(
    'SELECT pg_database_size(current_database()) AS bytes',
  )
  return Number(row?.bytes ?? 0)
}

const sqliteSizes = `
  SELECT pages.name, tables.tbl_name AS owner, pages.bytes
  FROM (SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name) AS pages
  JOIN sqlite_master AS tables ON tables.name = pages.name
  ORDER BY bytes DESC`

const postgresqlSizes = `
  SELECT c.relname::text AS name, coalesce(t.relname, c.relname)::text AS owner,
    pg_relation_size(c.oid) AS bytes
  FROM pg_class AS c
  LEFT JOIN pg_index AS i ON i.indexrelid = c.oid LEFT JOIN pg_class AS t ON t.oid = i.indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')
  ORDER BY bytes DESC`
