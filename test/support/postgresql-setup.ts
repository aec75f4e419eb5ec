import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { silentLog } from '../../src/lib/log.ts'
import { openStore } from '../../src/store/open.ts'
import { allClients, generateClients } from './generate.ts'
import { databaseUrl, onServer, startPostgresql, tableNames } from './postgresql-server.ts'

/** Runs before all tests: starts one PostgreSQL server with an empty, migrated database as the template of copies. */

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresql: {
      /** The URL of a database on the server. */
      readonly url: string
      /** The prefix of the names of all databases of this run. */
      readonly prefix: string
      /** The database to copy. */
      readonly template: string
      /** The names of the tables of the template. */
      readonly tables: string
    }
  }
}

/** Starts a server, or uses that of `TEST_DATABASE_URL`. Returns the function that removes the databases and stops the server. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // A checkout that was only started on SQLite has no PostgreSQL client.
  if (!(await generateClients(allClients))) throw new Error('no clients for tests')
  const configuredUrl = process.env.TEST_DATABASE_URL
  const server = configuredUrl === undefined ? await startPostgresql() : undefined
  const url = configuredUrl ?? server?.url ?? ''
  const prefix = `ledger_gateway_test_${randomBytes(6).toString('hex')}`
  const template = `${prefix}_template`
  await onServer(url, `CREATE DATABASE ${template}`)
  const store = await openStore({ url: databaseUrl(url, template), log: silentLog })
  if (!store.ok) throw new Error(`no database for tests: ${JSON.stringify(store.error)}`)
  await store.value.close()
  const tables = await tableNames(databaseUrl(url, template))
  project.provide('postgresql', { url, prefix, template, tables })

  return async () => {
    if (server === undefined) await removeDatabases(url, prefix)
    else await server.stop()
  }
}

async function removeDatabases(url: string, prefix: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
    [prefix],
  )
  for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await client.end()
}
