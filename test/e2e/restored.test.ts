import { copyFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { restore } from '../../src/cli/restore.ts'
import type { FeedEvent, FeedUpdate } from '../../src/client/events.ts'
import { type FeedEnded, type FollowOptions, follow } from '../../src/client/follow.ts'
import { decodeCursor, encodeCursor } from '../../src/feed/cursor.ts'
import { present } from '../../src/lib/assert.ts'
import { databases, onDatabase, type TestDatabase } from '../support/databases.ts'
import { logTables } from '../support/log-tables.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { rest, restJson } from '../support/rest.ts'
import { everywhere, resume } from '../support/resume.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** The database is replaced by an older copy, and the ledger continues with another history (docs/feed.md 5 and 9). */

// A slot lasts one second, and every history has several slots.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const classes = ['OWNED', 'MENTIONED'] as const
const address = addressOf(user(1))
/** Rows of a payment: one output spent, two created. */
const rowsPerPayment = 3

/** Splits the genesis output of a user, and waits until the slot is committed. */
async function pay(by: number, url: string): Promise<void> {
  const offer = await offerOf(url)
  const key = user(by)
  const spend = present((await genesisOutputs(url, key))[0], 'output')
  const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
  const creationSlot = slotNow(offer.network)
  const { payload } = paymentOf(offer.network, { key, spend, outputs, creationSlot })
  await acceptedId(await post(url, blockOf(offer, payload).bytes))
  await untilCommitted(url, slotNow(offer.network))
}

/** Waits until the database has the commitment that the gateway offers: the writer detects the other database with its next slot. */
async function untilOffered(url: string): Promise<void> {
  await until(async () => {
    const { status } = await restJson(`${url}/api/core/v3/info`)
    return (await rest(`${url}/api/core/v3/commitments/${status.latestCommitmentId}`)).ok
  })
  await untilHealth(url)
}

type AnyEvent = FeedEvent | FeedEnded

/** A follower and what it has received. */
interface Follower {
  readonly updates: FeedUpdate[]
  readonly events: AnyEvent[]
  /** The cursor from which it would resume. */
  cursor(): string
  /** Resolves when it has received `count` updates. */
  until(count: number): Promise<void>
  /** Resolves with its last event. */
  readonly over: Promise<AnyEvent | undefined>
  leave(): Promise<void>
}

function startFollower(options: Omit<FollowOptions, 'classes' | 'signal'>): Follower {
  const leaving = new AbortController()
  const updates: FeedUpdate[] = []
  const events: AnyEvent[] = []
  let cursor = options.after ?? ''
  let wake = () => {}
  const over = run()

  async function run(): Promise<AnyEvent | undefined> {
    for await (const event of follow({ ...options, classes, signal: leaving.signal })) {
      events.push(event)
      if ('cursor' in event) cursor = event.cursor ?? cursor
      if (event.__typename === 'LedgerUpdateBatch') updates.push(...event.updates)
      wake()
    }
    wake()
    return events.at(-1)
  }

  async function until(count: number): Promise<void> {
    while (updates.length < count && events.at(-1)?.__typename !== 'FeedEnded') {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    updates,
    events,
    cursor: () => cursor,
    until,
    over,
    leave: async () => {
      leaving.abort()
      await over
    },
  }
}

function seqOf(cursor: string): number {
  const decoded = decodeCursor(cursor, 'cursor')
  return decoded.ok ? decoded.value.seq : Number.NaN
}

/** Returns the updates in a database, in the order of the log, with the fields that a follower receives. */
async function storedRows(url: string): Promise<string[]> {
  const { ledger_updates: rows } = await logTables(url, 0)
  return rows
    .map((row) => row.split(' '))
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([seq, , , ordinal, , milestone, outputId, isSpent, chain]) =>
      [seq, ordinal, milestone, `0x${outputId}`, isSpent, `0x${chain}`].join(' '),
    )
}

function receivedRows(updates: readonly FeedUpdate[]): string[] {
  return updates.map(({ cursor, ordinal, milestoneIndex, outputId, isSpent, historyHash }) =>
    [seqOf(cursor), ordinal, milestoneIndex, outputId, isSpent ? 1 : 0, historyHash].join(' '),
  )
}

/** Expects a new follower to receive the whole new history, and one that resumes at a common cursor to receive the rest of it. */
async function expectOneHistory(url: string, databaseUrl: string, common: string): Promise<void> {
  const rows = await storedRows(databaseUrl)
  const fresh = startFollower({ url, afterMilestone: 0 })
  const resumed = startFollower({ url, after: common })
  const genesis = rows.filter((row) => row.split(' ')[2] === '0').length
  await fresh.until(rows.length - genesis)
  await resumed.until(rows.length - seqOf(common))
  expect(receivedRows(fresh.updates)).toEqual(rows.slice(genesis))
  expect(receivedRows(resumed.updates)).toEqual(rows.slice(seqOf(common)))
  await fresh.leave()
  await resumed.leave()
}

describe('a database file that is replaced by an older copy', () => {
  let folder: Folder
  let gateway: Program
  beforeAll(() => {
    folder = makeFolder()
  })
  afterAll(async () => {
    await gateway.end('SIGTERM')
    folder.remove()
  })

  test('is another log for clients that have newer cursors, by every transport (5)', async () => {
    const { databaseFile, databaseUrl } = folder
    const settings = { DATABASE_URL: databaseUrl, KEY_FILE: `${databaseFile}.key` }
    gateway = await startProgram(settings)
    const { url } = gateway
    await untilHealth(url)
    const follower = startFollower({ url, afterMilestone: 0 })
    await pay(1, url)
    await follower.until(rowsPerPayment)
    const common = follower.cursor()
    const copy = `${databaseFile}.copy`
    await onDatabase(databaseUrl, `VACUUM INTO '${copy}'`)
    await pay(2, url)
    await pay(3, url)
    await follower.until(3 * rowsPerPayment)
    const [lost = ''] = follower.updates.slice(-1).map((update) => update.cursor)
    const between = present(follower.updates[4], 'an update').cursor
    expect(await resume(url, lost, address)).toEqual(everywhere('SERVED'))
    await follower.leave()
    await gateway.end('SIGTERM')

    for (const end of ['', '-wal', '-shm']) rmSync(databaseFile + end, { force: true })
    copyFileSync(copy, databaseFile)
    gateway = await startProgram({ ...settings, PORT: new URL(url).port })
    await untilHealth(url)
    // Only this process writes the file, so the gateway knows that it issued no newer cursor.
    expect(await resume(url, lost, address)).toEqual(everywhere('CURSOR_OF_ANOTHER_LOG'))
    for (const by of [4, 5, 6]) await pay(by, url)
    expect((await storedRows(databaseUrl)).length).toBeGreaterThan(seqOf(lost))
    for (const cursor of [lost, between]) {
      expect(await resume(url, cursor, address)).toEqual(everywhere('CURSOR_OF_ANOTHER_LOG'))
    }
    expect(await resume(url, common, address)).toEqual(everywhere('SERVED'))
    await expectOneHistory(url, databaseUrl, common)
  })
})

describe('a PostgreSQL that is replaced by an older copy under two gateways', () => {
  let database: TestDatabase
  let gateways: readonly TestGateway[] = []
  beforeAll(async () => {
    database = await present(databases[1], 'PostgreSQL').create()
    const env = { DATABASE_URL: database.url }
    gateways = [await startGateway({ env }), await startGateway({ env })]
    await Promise.all(gateways.map(({ url }) => untilHealth(url)))
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await onDatabase(database.url, 'DROP SCHEMA IF EXISTS gone CASCADE')
    await database.remove()
  })

  test('ends the feeds of both, and is another log for clients that have newer cursors (5, 9)', async () => {
    const [first, second] = gateways.map(({ url }) => url) as [string, string]
    const followers = gateways.map(({ url }) => startFollower({ url, afterMilestone: 0 }))
    await pay(1, first)
    for (const follower of followers) await follower.until(rowsPerPayment)
    const common = present(followers[0], 'a follower').cursor()
    await onDatabase(database.url, copySchema)
    await pay(2, second)
    await pay(3, first)
    for (const follower of followers) await follower.until(3 * rowsPerPayment)
    const lost = present(followers[0]?.updates.at(-1), 'an update').cursor
    for (const url of [first, second]) {
      expect(await resume(url, lost, address)).toEqual(everywhere('SERVED'))
    }

    await onDatabase(database.url, swapSchemas)
    for (const { over } of followers) {
      expect(await over).toMatchObject({ __typename: 'FeedReset', reason: 'LOG_REPLACED' })
    }
    // The gateways write nothing before the operator accepts the loss.
    for (const url of [first, second]) {
      await until(async () => (await rest(`${url}/health/ready`)).status === 503)
      expect(await (await rest(`${url}/health/ready`)).json()).toMatchObject({
        isHealthy: false,
        reason: 'history rewound',
      })
      expect((await post(url, JSON.stringify({ type: 0, tag: '0x01' }))).status).toBe(503)
    }
    const kept = await storedRows(database.url)
    const accepted = await runCommand(restore, ['--accept'], {
      env: { DATABASE_URL: database.url },
    })
    expect(accepted).toMatchObject({ code: 0, stdout: '{"isAccepted":true}\n' })
    await Promise.all([untilOffered(first), untilOffered(second)])
    for (const { logged } of gateways) {
      const events = logged.map((line) => JSON.parse(line).event)
      expect(events.filter((event) => event === 'history-rewound')).toHaveLength(1)
    }
    expect((await storedRows(database.url)).slice(0, kept.length)).toEqual(kept)
    for (const by of [4, 5, 6]) await pay(by, by === 5 ? second : first)
    expect((await storedRows(database.url)).length).toBeGreaterThan(seqOf(lost))
    for (const url of [first, second]) {
      expect(await resume(url, lost, address)).toEqual(everywhere('CURSOR_OF_ANOTHER_LOG'))
      expect(await resume(url, common, address)).toEqual(everywhere('CURSOR_OF_ANOTHER_LOG'))
      const { cursor } = await restJson(`${url}/feed/updates?address=${address}`)
      const [log, place] = [decodeCursor(cursor, 'cursor'), decodeCursor(common, 'cursor')]
      const { logId } = log.ok ? log.value : expect.fail('a cursor')
      const again = encodeCursor({ ...(place.ok ? place.value : expect.fail('a cursor')), logId })
      expect(await resume(url, again, address)).toEqual(everywhere('SERVED'))
      await expectOneHistory(url, database.url, again)
    }
  })
})

/** Copies all tables in one transaction. Later tests use the database too, some with another role. */
const copySchema = `BEGIN ISOLATION LEVEL REPEATABLE READ;
  CREATE SCHEMA kept;
  GRANT USAGE ON SCHEMA kept TO PUBLIC;
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
    LOOP
      EXECUTE format('CREATE TABLE kept.%I (LIKE public.%I INCLUDING ALL)', name, name);
      EXECUTE format('INSERT INTO kept.%I SELECT * FROM public.%I', name, name);
    END LOOP;
  END $$;
  COMMIT`

const swapSchemas = `BEGIN;
  ALTER SCHEMA public RENAME TO gone;
  ALTER SCHEMA kept RENAME TO public;
  COMMIT`
