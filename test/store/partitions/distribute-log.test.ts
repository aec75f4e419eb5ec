import fc from 'fast-check'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { planDistribution } from '../../../src/store/partitions/distribute-log.ts'
import { citusUrl, createOnCitus, distribute, distributed } from '../../support/citus.ts'
import { expectAnyRange, seqsOf } from '../../support/feed-log.ts'
import {
  addresses,
  type LogStore,
  openLogStore,
  outputIdOf,
  slotEntries,
} from '../../support/log-store.ts'
import { partition } from '../../support/partitioned.ts'
import { until } from '../../support/until.ts'

/** Tests the log in shards on the workers of Citus. `TEST_CITUS_URL` names the coordinator. */

const [owner = '0x'] = addresses

describe.runIf(citusUrl !== undefined)('a log on Citus', () => {
  let log: LogStore
  let client: Client

  beforeEach(async () => {
    const { url, remove } = await createOnCitus()
    log = await openLogStore({ name: 'postgresql', create: async () => ({ url, remove }) })
    client = new Client(log.url)
    await client.connect()
  })
  afterEach(async () => {
    await client.end()
    await log.close()
  })

  async function commitRows(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const outputId = outputIdOf('11', i)
      await log.commit([
        { address: owner, class: 'OWNED', roles: ['OWNER'], outputId, isSpent: false },
      ])
    }
  }

  const everyRow = { limit: 1_000, order: 'ascending', after: 0, before: 10_000 } as const
  const served = async () =>
    seqsOf(await log.store.read.updates({ ...everyRow, address: owner, classes: ['OWNED'] }))
  const ofLog = async () =>
    seqsOf(await log.store.read.updates({ ...everyRow, classes: ['OWNED', 'MENTIONED'] }))
  const rowsOf = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows

  test('is planned without a change', async () => {
    const before = await rowsOf('SELECT oid, relname FROM pg_class ORDER BY oid')
    const database = await openDatabase({ url: log.url, log: silentLog, schema: 'UNCHANGED' })
    if (!database.ok) throw new Error(database.error.code)
    const plan = await planDistribution(database.value, undefined)
    await database.value.close()
    expect(plan).toMatchObject({ ok: true, value: { shards: 4, workers: 2 } })
    expect(await rowsOf('SELECT oid, relname FROM pg_class ORDER BY oid')).toEqual(before)
  })

  test('returns the rows of any range and any addresses as before the distribution', async () => {
    const [slots = []] = fc.sample(fc.array(slotEntries, { minLength: 12, maxLength: 12 }), {
      seed: 6,
      numRuns: 1,
    })
    for (const slot of slots.slice(0, 6)) await log.commit(slot)
    await distributed(log.url, log.store)
    for (const slot of slots.slice(6)) await log.commit(slot)
    const placed = await rowsOf(`SELECT count(DISTINCT get_shard_id_for_distribution_column(
      'ledger_updates', address)) FROM ledger_updates`)
    expect(Number(placed[0]?.[0])).toBeGreaterThan(1)
    await expectAnyRange(log, 90)
  })

  test('is read through functions before the distribution ends, and a second run completes the distribution', async () => {
    await commitRows(3)
    const stopping = new AbortController()
    const stopped = distribute(log.url, { signal: stopping.signal, knownMs: 60_000 })
    await until(
      async () => (await rowsOf("SELECT to_regproc('log_count') IS NOT NULL"))[0]?.[0] === true,
    )
    stopping.abort()
    expect(await stopped).toEqual({ ok: false, error: { code: 'DISTRIBUTION_INTERRUPTED' } })
    await commitRows(1)
    expect(await served()).toEqual([1, 2, 3, 4])
    await distributed(log.url, log.store)
    await commitRows(1)
    expect(await served()).toEqual([1, 2, 3, 4, 5])
    expect(await rowsOf('SELECT DISTINCT seq::int FROM log_shards')).toEqual([[5]])
  })

  test('is neither written nor published while a shard lacks committed rows', async () => {
    await distributed(log.url, log.store)
    await commitRows(2)
    const { write } = log.store
    const behind = (n: number) =>
      client.query(
        `UPDATE log_shards SET seq = seq - ${n} WHERE key = (SELECT min(key::text)::bytea FROM log_shards)`,
      )
    await behind(1)
    await expect(commitRows(1)).rejects.toThrow('shards have the log up to position 2')
    expect(await ofLog()).toEqual([1, 2])
    await expect(write.takeLease({ holder: 'test', ttlMs: 60_000 })).rejects.toThrow(
      'not every shard of the log has its rows up to position 2',
    )
    await behind(-1)
    await commitRows(1)
    expect(await ofLog()).toEqual([1, 2, 3])
  })

  test('hides pruned rows, and deletes them once no older snapshot reads', async () => {
    await distributed(log.url, log.store)
    await commitRows(6)
    const prune = () => log.store.write.pruneLog({ milestones: 2, rows: 3 })
    const stored = () => rowsOf('SELECT count(*)::int FROM ledger_updates')
    const storedAfterRun = async () => {
      await prune()
      return (await stored())[0]?.[0]
    }
    expect(await prune()).toMatchObject({ prunedSeq: 3 })
    const older = new Client(log.url)
    await older.connect()
    await older.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await older.query('SELECT FROM published_tip')
    expect(await prune()).toMatchObject({ isDone: true })
    expect([await served(), await ofLog()]).toEqual([
      [5, 6],
      [5, 6],
    ])
    expect(await log.store.read.logTip()).toMatchObject({ prunedSeq: 4, seq: 6 })
    expect(await stored()).toEqual([[6]])
    await older.end()
    // The first run deletes what was hidden when it began to wait.
    await until(async () => (await storedAfterRun()) === 3)
    await until(async () => (await storedAfterRun()) === 2)
    expect(await ofLog()).toEqual([5, 6])
  })

  test('in shards is not partitioned', async () => {
    await distributed(log.url, log.store)
    expect(await partition(log.url)).toMatchObject({ error: { code: 'LOG_IN_SHARDS' } })
  })

  test('in partitions is not distributed', async () => {
    await partition(log.url, { rows: 100 })
    expect(await distribute(log.url)).toMatchObject({ error: { code: 'LOG_IN_PARTITIONS' } })
  })
})
