import type { Client } from 'pg'

/** Facts about a server and a database. */
export interface ServerFacts {
  readonly encoding: string
  /** Value of `server_version_num`, such as 180004. */
  readonly version: number
  /** Whether the database has the tables of this program. */
  readonly hasTables: boolean
}

export async function serverFacts(client: Client): Promise<ServerFacts> {
  const { rows } = await client.query<{
    encoding: string
    version: string
    tables: string | null
  }>(`
    SELECT current_setting('server_encoding') AS encoding,
      current_setting('server_version_num') AS version,
      to_regclass('_prisma_migrations')::text AS tables`)
  const { encoding = '', version, tables = null } = rows[0] ?? {}
  return { encoding, version: Number(version), hasTables: tables !== null }
}
