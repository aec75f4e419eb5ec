import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { silentLog } from '../../src/lib/log.ts'
import { openStore } from '../../src/store/open.ts'
import { allClients, generateClients } from './generate.ts'
import { databaseUrl, onServer, startPostgresql, tableNames } from './postgresql-server.ts'

/** Before all tests: one PostgreSQL for all of them, with an empty database that is up to date, for copies to be made. */

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresql: {
      /** Of a server where databases can be made. */
      readonly url: string
      /** What the names of all databases of this run begin with. */
      readonly prefix: string
      /** The database to copy. */
      readonly template: string
      /** The names of its tables. */
      readonly tables: string
    }
  }
}

/** Starts a server, or takes that of `TEST_DATABASE_URL`, and gives back how to end it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // A checkout that was started on SQLite has the client of SQLite alone.
  if (!(await generateClients(allClients))) throw new Error('no clients for tests')
  const given = process.env.TEST_DATABASE_URL
  const server = given === undefined ? await startPostgresql() : undefined
  const url = given ?? server?.url ?? ''
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
