import type { Client } from 'pg'

/** What the server says of itself: the encoding of the database, and the version as a number like 180004. */
export async function serverFacts(client: Client): Promise<{ encoding: string; version: number }> {
  const { rows } = await client.query<{ encoding: string; version: string }>(`
    SELECT current_setting('server_encoding') AS encoding,
      current_setting('server_version_num') AS version`)
  return { encoding: rows[0]?.encoding ?? '', version: Number(rows[0]?.version) }
}
