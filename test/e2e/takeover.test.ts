import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import { growUnspent } from '../bench/scale/unspent.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { makeFolder, type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'

/** Three gateways on a ledger with so many outputs that beginning a leader term once took longer than a lease lasts. */

const outputs = 100_000

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)
const folder = makeFolder()
const programs = new Set<Program>()
let database: TestDatabase

beforeAll(async () => {
  database = await kind.create()
})
afterAll(async () => {
  for (const program of programs) await program.end('SIGKILL')
  await database.remove()
  folder.remove()
})

test('when the writer is killed another gateway commits slots and reports itself as the writer', async () => {
  const firstGateway = await startServing()
  await until(async () => (await roleOf(firstGateway)) === 'writer')
  await firstGateway.end('SIGTERM')
  programs.delete(firstGateway)
  const opened = await databaseOf({ url: database.url, wakeUrl: undefined, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  await growUnspent(opened.value, outputs)
  await opened.value.close()
  // The new outputs have no trie pages yet: the tries are built before the first slot.
  const gateways = [await startServing(), await startServing(), await startServing()]
  const writer = await until(() => writerAmong(gateways), {
    what: 'there is a writer',
    deadlineMs: 90_000,
  })
  await writer.end('SIGKILL')
  programs.delete(writer)
  const others = gateways.filter((one) => one !== writer)
  const before = await committedSlot(present(others[0], 'another gateway'))
  const next = await until(() => writerAmong(others), { what: 'there is another writer' })
  await until(async () => (await committedSlot(next)) > before + 1, { what: 'slots are committed' })
  expect(next.logged()).not.toContain('building-tries')
}, 240_000)

async function startServing(): Promise<Program> {
  const program = await startProgram({
    DATABASE_URL: database.url,
    KEY_FILE: `${folder.databaseFile}.key`,
    STATE_MEMORY: '0',
  })
  programs.add(program)
  return program
}

async function writerAmong(gateways: readonly Program[]): Promise<Program | undefined> {
  for (const gateway of gateways) if ((await roleOf(gateway)) === 'writer') return gateway
  return undefined
}

async function roleOf({ url }: Program): Promise<unknown> {
  const response = await fetch(`${url}/health/ready`)
  const { role }: { role?: unknown } = JSON.parse(await response.text())
  return role
}

async function committedSlot({ url }: Program): Promise<number> {
  return (await restJson(`${url}/api/gateway/v1/log`)).milestoneIndex
}
