import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { backup } from '../../src/cli/backup.ts'
import { check } from '../../src/cli/check.ts'
import type { Command } from '../../src/cli/command.ts'
import { restore } from '../../src/cli/restore.ts'
import { follow } from '../../src/client/follow.ts'
import { present } from '../../src/lib/assert.ts'
import { emptyDatabases, type TestDatabase } from '../support/databases.ts'
import { logTables } from '../support/log-tables.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { everywhere, resume } from '../support/resume.ts'
import { runCommand } from '../support/run-command.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** Backs up a ledger that accepts blocks meanwhile, and restores the backup into another database (docs/operations.md). */

// A slot lasts one second.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const rowsPerPayment = 3

async function pay(by: number, url: string): Promise<void> {
  const offer = await offerOf(url)
  const key = user(by)
  const spend = present((await genesisOutputs(url, key))[0], 'output')
  const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
  const creationSlot = slotNow(offer.network)
  const { payload } = paymentOf(offer.network, { key, spend, outputs, creationSlot })
  await acceptedId(await post(url, blockOf(offer, payload).bytes))
}

/** Submits blocks one after another until `end` is called, which returns their number. */
function keepBusy(url: string): { end(): Promise<number> } {
  let isOver = false
  const finished = run()

  async function run(): Promise<number> {
    for (let count = 0; ; count++) {
      if (isOver) return count
      // The node creates the block that carries the payload.
      const data = `0x${count.toString(16).padStart(8, '0')}`
      await acceptedId(await post(url, JSON.stringify({ type: 0, tag: '0x01', data })))
    }
  }

  return {
    end: () => {
      isOver = true
      return finished
    },
  }
}

/** Returns the cursors of `count` updates after a position, or the last event of the feed if it ends before. */
async function cursorsOf(url: string, from: { after: string } | 'ALL', count: number) {
  const leaving = new AbortController()
  const place = from === 'ALL' ? { afterMilestone: 0 } : from
  const cursors: string[] = []
  for await (const event of follow({ url, ...place, signal: leaving.signal })) {
    if (event.__typename === 'FeedReset' || event.__typename === 'FeedEnded') return event
    if (event.__typename !== 'LedgerUpdateBatch') continue
    cursors.push(...event.updates.map(({ cursor }) => cursor))
    if (cursors.length >= count) leaving.abort()
  }
  return cursors
}

describe.each(emptyDatabases)('a backup under load on $name', ({ create }) => {
  let folder: Folder
  let database: TestDatabase
  let restored: TestDatabase
  let gateway: Program | undefined
  beforeAll(async () => {
    folder = makeFolder()
    database = await create()
    restored = await create()
  })
  afterAll(async () => {
    await gateway?.end('SIGTERM')
    await database.remove()
    await restored.remove()
    folder.remove()
  })

  function run(command: Command, words: readonly string[], url: string) {
    return runCommand(command, words, { env: { DATABASE_URL: url } })
  }

  test('is consistent, and the restored log rejects the cursors of the original log', async () => {
    const file = join(dirname(folder.databaseFile), 'ledger.backup')
    const settings = { KEY_FILE: `${folder.databaseFile}.key` }
    gateway = await startProgram({ ...settings, DATABASE_URL: database.url })
    const { url } = gateway
    await untilHealth(url)
    const load = keepBusy(url)
    await pay(1, url)
    const [common = ''] = (await cursorsOf(url, 'ALL', rowsPerPayment)) as string[]
    const made = await run(backup, [file], database.url)
    expect(made).toMatchObject({ code: 0 })
    expect(JSON.parse(made.stdout)).toMatchObject({ file, keepBeside: [expect.any(String)] })
    await pay(2, url)
    const newer = (await cursorsOf(url, 'ALL', 2 * rowsPerPayment)) as string[]
    expect(await load.end()).toBeGreaterThan(20)
    await gateway.end('SIGTERM')

    expect(await run(restore, [file], restored.url)).toMatchObject({ code: 0 })
    const checked = await run(check, [], restored.url)
    expect([checked.code, JSON.parse(checked.stdout).findings]).toEqual([0, []])
    const all = Number.POSITIVE_INFINITY
    const [before, after] = [await logTables(database.url, all), await logTables(restored.url, all)]
    expect(before.ledger_updates).toEqual(expect.arrayContaining([...after.ledger_updates]))
    expect(before.commitments).toEqual(expect.arrayContaining([...after.commitments]))
    expect(after.commitments.length).toBeLessThan(before.commitments.length)
    expect(after.network).not.toEqual(before.network)

    gateway = await startProgram({ ...settings, DATABASE_URL: restored.url })
    await untilHealth(gateway.url)
    for (const cursor of [present(newer.at(-1), 'a cursor'), common]) {
      expect(await cursorsOf(gateway.url, { after: cursor }, 1)).toMatchObject({
        __typename: 'FeedReset',
        reason: 'LOG_REPLACED',
      })
      const refused = everywhere('CURSOR_OF_ANOTHER_LOG')
      expect(await resume(gateway.url, cursor, addressOf(user(1)))).toEqual(refused)
    }
    expect(await cursorsOf(gateway.url, 'ALL', rowsPerPayment)).toHaveLength(rowsPerPayment)
    await acceptedId(await post(gateway.url, JSON.stringify({ type: 0, tag: '0x02' })))
  })
})
