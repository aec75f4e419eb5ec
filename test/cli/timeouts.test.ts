import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backup } from '../../src/cli/backup.ts'
import { check } from '../../src/cli/check.ts'
import type { Command } from '../../src/cli/command.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { importCommand } from '../../src/cli/import.ts'
import { partition } from '../../src/cli/partition.ts'
import { rebuildActivity } from '../../src/cli/rebuild-activity.ts'
import {
  databases,
  onDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { entry, slotCommit, testGenesis } from '../support/store-rows.ts'

/** Long commands on PostgreSQL whose role or database has a timeout for statements. */

const role = `limited_${process.pid}`
let folder: string
let from: TestDatabase
let to: TestDatabase

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-timeouts-'))
  const { create } = databases[1] ?? expect.fail()
  from = await create()
  to = await create()
  const store = await openedStore(from.url)
  const term = await takenLease(store)
  await store.write.initialize(term, testGenesis())
  await store.write.closeSlots(term, 1)
  await store.write.commitSlots(term, [slotCommit(1, [entry(1, 1), entry(1, 2)])])
  await store.write.releaseLease(term)
  await store.close()
  await onDatabase(from.url, `CREATE ROLE ${role} LOGIN PASSWORD 'hush'`)
  await onDatabase(from.url, `ALTER ROLE ${role} SET statement_timeout = '1min'`)
  for (const { url } of [from, to]) await onDatabase(url, refusingTimeouts)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  for (const { url } of [from, to]) await onDatabase(url, former)
  await onDatabase(from.url, `DROP ROLE ${role}`)
  await from.remove()
  await to.remove()
})

/** Fails every statement on a row of the log, and every change of a table, that has a timeout. */
const refusingTimeouts = `
  GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
  CREATE FUNCTION has_no_timeout() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('statement_timeout') <> '0' THEN RAISE 'a timeout is on'; END IF;
    RETURN true;
  END $$;
  CREATE FUNCTION require_no_timeout() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM has_no_timeout();
  END $$;
  ALTER TABLE ledger_updates ENABLE ROW LEVEL SECURITY;
  CREATE POLICY no_timeout ON ledger_updates USING (has_no_timeout()) WITH CHECK (has_no_timeout());
  CREATE EVENT TRIGGER no_timeout ON ddl_command_start WHEN TAG IN ('ALTER TABLE')
    EXECUTE FUNCTION require_no_timeout()`

/** Databases of former tests are used again. */
const former = `
  DROP EVENT TRIGGER no_timeout;
  DROP FUNCTION require_no_timeout, has_no_timeout CASCADE;
  ALTER TABLE ledger_updates DISABLE ROW LEVEL SECURITY;
  DROP OWNED BY ${role}`

function run(command: Command, words: readonly string[], { url }: TestDatabase) {
  const { href: DATABASE_URL } = Object.assign(new URL(url), { username: role, password: 'hush' })
  return runCommand(command, words, { env: { DATABASE_URL } })
}

const commands = [
  ['backup', backup, ['backup']],
  ['export', exportCommand, ['--file', 'export']],
  ['rebuild-activity', rebuildActivity, []],
] as const
test.each(commands)('%s has no timeout', async (_name, command, words) => {
  const paths = words.map((word) => (word.startsWith('--') ? word : join(folder, word)))
  expect(await run(command, paths, from)).toMatchObject({ code: 0, stderr: '' })
})

test('check has no timeout', async () => {
  // This ledger has no blocks.
  const { stdout, stderr } = await run(check, [], from)
  expect(stderr).toMatch(/ findings\n$/)
  expect(JSON.parse(stdout)).toMatchObject({ updates: 3 })
})

test('import has no timeout', async () => {
  const file = join(folder, 'moved')
  await run(exportCommand, ['--file', file], from)
  expect(await run(importCommand, ['--file', file], to)).toMatchObject({ code: 0, stderr: '' })
})

test('partition has no timeout', async () => {
  await onDatabase(from.url, 'DROP POLICY no_timeout ON ledger_updates')
  const env = { DATABASE_URL: `${from.url}?options=-cstatement_timeout%3D1min` }
  expect(await runCommand(partition, ['--rows', '1000'], { env })).toMatchObject({ code: 0 })
})
