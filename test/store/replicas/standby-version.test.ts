import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openedStore } from '../../support/databases.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { startStandby } from '../../support/standby.ts'
import { until } from '../../support/until.ts'

test('the version of a standby differs after each commit, in whatever order transactions end', async () => {
  const server = await startPostgresql()
  const first = await openedStore(server.url)
  const standby = await startStandby(server.url)
  const { read, close } = await openedStore(standby.url)
  const at = async (url: string) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    return client
  }
  const oldest = await at(server.url)
  const later = await at(server.url)
  const last = await at(server.url)
  const reader = await at(standby.url)
  const replayed = async (text: string) => {
    const { rows } = await reader.query(
      "SELECT string_agg(n::text, ' ' ORDER BY n) AS text FROM seen",
    )
    return rows[0]?.text === text
  }
  await last.query('CREATE TABLE seen (n int)')
  await oldest.query('BEGIN')
  await oldest.query('INSERT INTO seen VALUES (1)')
  await later.query('BEGIN')
  await later.query('INSERT INTO seen VALUES (2)')
  await last.query('INSERT INTO seen VALUES (3)')
  await until(() => replayed('3').catch(() => false))
  const versions = [await read.version()]
  const versionAfter = async (client: Client) => {
    await client.query('COMMIT')
    // The server shows the rows just before the time of their commit.
    await until(async () => (await read.version()) !== versions.at(-1))
    versions.push(await read.version())
  }
  await versionAfter(later)
  expect(await replayed('2 3')).toBe(true)
  await versionAfter(oldest)
  expect(await replayed('1 2 3')).toBe(true)
  for (const client of [oldest, later, last, reader]) await client.end()
  await close()
  await first.close()
  await standby.stop()
  await server.stop()
})
