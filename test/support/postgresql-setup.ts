import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { openStore } from '../../src/store/open.ts'
import { databaseUrl, onServer, startPostgresql } from './postgresql-server.ts'

/** Before all tests: one PostgreSQL for all of them, with an empty database that is up to date, for copies to be made. */

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a server where databases can be made, and the name of the database to copy. */
    readonly postgresql: { readonly url: string; readonly template: string }
  }
}

/** Starts a server, or takes that of `TEST_DATABASE_URL`, and gives back how to end it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const server = given === undefined ? await startPostgresql() : undefined
  const url = given ?? server?.url ?? ''
  const template = `ledger_gateway_test_${randomBytes(6).toString('hex')}`
  await onServer(url, `CREATE DATABASE ${template}`)
  const store = await openStore({ url: databaseUrl(url, template), log: { info: () => {} } })
  if (!store.ok) throw new Error(`no database for tests: ${JSON.stringify(store.error)}`)
  await store.value.close()
  project.provide('postgresql', { url, template })

  return async () => {
    await onServer(url, `DROP DATABASE ${template}`)
    await server?.stop()
  }
}
