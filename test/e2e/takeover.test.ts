import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import { growUnspent } from '../bench/scale/unspent.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { makeFolder, type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { getJson } from '../support/wallet.ts'

/** Three gateways on a ledger of so many outputs that a term took longer to begin than a lease lasts. */

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

test('when the writer is killed another gateway commits slots, and says that it writes', async () => {
  const founder = await started()
  await until(async () => (await roleOf(founder)) === 'writer')
  await founder.end('SIGTERM')
  programs.delete(founder)
  const opened = await databaseOf({ url: database.url, wakeUrl: undefined, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  await growUnspent(opened.value, outputs)
  await opened.value.close()
  // They have no pages yet: the tries are built before the first slot.
  const gateways = [await started(), await started(), await started()]
  const writer = await until(() => writerAmong(gateways), {
    what: 'one writes',
    deadlineMs: 90_000,
  })
  await writer.end('SIGKILL')
  programs.delete(writer)
  const others = gateways.filter((one) => one !== writer)
  const before = await committedSlot(present(others[0], 'another gateway'))
  const next = await until(() => writerAmong(others), { what: 'another writes' })
  await until(async () => (await committedSlot(next)) > before + 1, { what: 'slots are committed' })
  expect(next.logged()).not.toContain('building-tries')
}, 240_000)

async function started(): Promise<Program> {
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
  return (await getJson(`${url}/api/gateway/v1/log`)).milestoneIndex
}
