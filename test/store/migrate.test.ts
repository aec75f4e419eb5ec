import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { blockKind } from '../../src/node/block-kind.ts'
import { Block } from '../../src/protocol/block.ts'
import type { BlockId, TransactionId } from '../../src/protocol/primitives.ts'
import { decode } from '../../src/protocol/schema/schema.ts'
import { databaseOf } from '../../src/store/connect.ts'
import type { Database } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/open.ts'
import { numberToKind } from '../../src/store/values.ts'
import { emptyDatabases, onDatabase, openedStore, type TestDatabase } from '../support/databases.ts'
import { postgresqlSchema, postgresqlSchemaFile } from '../support/postgresql-schema.ts'
import {
  migrationScript,
  postgresqlFiles,
  postgresqlForScripts,
  sqliteFiles,
  sqliteForScripts,
} from '../support/schema-engine.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface BlockVector extends Vector {
  readonly bytes: Hex
  readonly ids: { readonly blockId: BlockId }
  readonly transaction?: { readonly transactionId: TransactionId }
}

function kindOf(bytes: Hex) {
  const block = decode(Block, hexToBytes(bytes))
  if (!block.ok) throw new Error(block.error.code)
  return blockKind(block.value.body)
}

describe.each(emptyDatabases)('migrations on $name', ({ name, create }) => {
  let folder: string
  let migrations: string
  let empty: TestDatabase
  let database: Database

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-migrate-'))
    migrations = join(folder, 'migrations')
    empty = await create()
    const opened = await databaseOf({ url: empty.url, wakeUrl: undefined, log: silentLog })
    if (!opened.ok) throw new Error(opened.error.code)
    database = opened.value
    cpSync(database.migrations.path, migrations, { recursive: true })
  })

  afterEach(async () => {
    await database.close()
    await empty.remove()
    rmSync(folder, { recursive: true })
  })

  const files = name === 'sqlite' ? sqliteFiles : postgresqlFiles
  const shipped = readdirSync(files.migrations).sort()
  const first = shipped[0] ?? ''

  async function run() {
    const connection = await database.connect()
    try {
      return await migrate(connection, { ...database.migrations, path: migrations })
    } finally {
      await connection.dispose()
    }
  }

  function add(migration: string, script: string): void {
    mkdirSync(join(migrations, migration))
    writeFileSync(join(migrations, migration, 'migration.sql'), script)
  }

  const queryRows = <T>(sql: string) => database.writer.$queryRawUnsafe<T[]>(sql)

  const tables = async () => {
    const sql =
      name === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
    return (await queryRows<{ name: string }>(sql)).map((table) => table.name)
  }

  test("are in the folder that Prisma's command line reads", async () => {
    vi.stubEnv('DATABASE_URL', empty.url)
    vi.resetModules()
    const { default: config } = await import('../../prisma.config.ts')
    vi.unstubAllEnvs()
    const root = fileURLToPath(new URL('../../', import.meta.url))
    expect(join(root, config.migrations?.path ?? '')).toBe(database.migrations.path)
    expect(join(root, config.schema ?? '')).toBe(files.schema)
  })

  test("are applied once, and recorded as Prisma's own commands record them", async () => {
    expect(await run()).toEqual({ ok: true, value: shipped })
    expect(await run()).toEqual({ ok: true, value: [] })
    const rows = await queryRows<Record<string, unknown>>('SELECT * FROM _prisma_migrations')
    expect(rows).toHaveLength(shipped.length)
    expect(rows[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256')
        .update(readFileSync(join(files.migrations, first, 'migration.sql')))
        .digest('hex'),
      migration_name: first,
      started_at: expect.any(Date),
      finished_at: expect.any(Date),
      applied_steps_count: name === 'sqlite' ? 1n : 1,
      logs: null,
      rolled_back_at: null,
    })
  })

  test('that are new are applied to a database that has the older ones', async () => {
    await run()
    add('99990101000000_later', 'CREATE TABLE later (id BIGINT PRIMARY KEY);')
    expect(await run()).toEqual({ ok: true, value: ['99990101000000_later'] })
    expect(await tables()).toContain('later')
  })

  test('keep the rows of a database from before the standard names', async () => {
    const names = '20261122014500_standard_names'
    const later = shipped.filter((migration) => migration >= names)
    for (const migration of later) rmSync(join(migrations, migration), { recursive: true })
    await run()
    const [logId, branch, hash, former, value, outputId] = [8, 36, 32, 32, 33, 38].map(
      (size, n) => `0x${`${n + 1}`.repeat(2 * size)}`,
    ) as [string, string, string, string, string, string]
    const bytes = (hex: string) =>
      name === 'sqlite' ? `x'${hex.slice(2)}'` : `'\\x${hex.slice(2)}'::bytea`
    const insert = (table: string, row: Record<string, string>) =>
      onDatabase(
        empty.url,
        `INSERT INTO "${table}" (${Object.keys(row).map((column) => `"${column}"`)}) ` +
          `VALUES (${Object.values(row)})`,
      )
    const address = bytes(value)
    const update = { address, class: '0', ordinal: '2', milestoneIndex: '7', balance: '5' }
    const parameters = bytes('0x00')
    await insert('network', { id: '1', epoch: bytes(logId), parameters })
    const commitment = { slot: '7', id: bytes(branch), bytes: bytes('0x00') }
    await insert('commitments', { ...commitment, firstSeq: '1', lastSeq: '1' })
    const row = { ...update, roles: '1', outputId: bytes(outputId), isSpent: 'FALSE' }
    await insert('ledger_updates', { ...row, seq: '1', chain: bytes(hash) })
    await insert('pruned_tips', { ...update, ordinal: '1', chain: bytes(former) })
    const key = { value: address, bookedSlot: '7', outputId: bytes(outputId) }
    await insert('output_terms', { ...key, term: '3' })
    await insert('handovers', { address, slot: '9', total: '5' })

    for (const migration of later)
      cpSync(join(database.migrations.path, migration), join(migrations, migration), {
        recursive: true,
      })
    expect(await run()).toEqual({ ok: true, value: later })
    const { writer } = database
    const hexOf = (found: Uint8Array | undefined) => `0x${Buffer.from(found ?? []).toString('hex')}`
    expect(hexOf((await writer.network.findFirst())?.logId)).toBe(logId)
    expect(hexOf((await writer.ledgerUpdate.findFirst())?.historyHash)).toBe(hash)
    expect(hexOf((await writer.prunedTip.findFirst())?.historyHash)).toBe(former)
    expect(await writer.indexKey.findFirst()).toMatchObject({ kind: 3, bookedSlot: 7n })
    expect(await writer.expirationTransfer.findFirst()).toMatchObject({ slot: 9n, total: 5n })

    const store = await openedStore(empty.url)
    expect(await store.read.logTip()).toMatchObject({ logId, seq: 1, slot: 7 })
    const range = { after: 0, before: 2, limit: 1, order: 'ascending' } as const
    expect(await store.read.updates({ ...range, classes: ['OWNED'] })).toMatchObject([
      { seq: 1, historyHash: hash, outputId },
    ])
    await store.close()
  })

  test('set the kinds of existing blocks and outputs, and the positions of children', async () => {
    const names = shipped.find((migration) => migration.endsWith('_list_indexes')) ?? ''
    const later = shipped.filter((migration) => migration >= names)
    for (const migration of later) rmSync(join(migrations, migration), { recursive: true })
    await run()
    const bytes = (hex: string) =>
      name === 'sqlite' ? `x'${hex.slice(2)}'` : `'\\x${hex.slice(2)}'::bytea`
    const vectors = [
      ...loadVectors<BlockVector>('blocks'),
      ...loadVectors<BlockVector>('transactions'),
    ]
    const expected = new Map(vectors.map(({ bytes, ids }) => [ids.blockId, kindOf(bytes)]))
    const rows = vectors.map(({ bytes: block, ids, transaction }, n) => {
      const former = { validation: 1, candidacy: 2 }[kindOf(block) as string] ?? 0
      const transactionId = transaction === undefined ? 'NULL' : bytes(transaction.transactionId)
      return `(${bytes(ids.blockId)}, ${n}, 1, ${bytes('0x00')}, ${n}, ${bytes(block)}, ${transactionId}, 'ACCEPTED', ${former}, 0)`
    })
    await onDatabase(
      empty.url,
      `INSERT INTO blocks (id, inbox, slot, "issuerId", "issuingTime", bytes, "transactionId", state, kind, "workScore") VALUES ${rows}`,
    )
    const [parent = '0x', ...children] = [...expected.keys()]
    const references = children.map((child) => `(${bytes(parent)}, ${bytes(child)})`)
    await onDatabase(empty.url, `INSERT INTO block_parents (parent, child) VALUES ${references}`)
    const outputs = [0, 1, 2, 3, 4, 5].map((code) => {
      const id = bytes(`0x0${code}`)
      return `(${id}, ${id}, ${bytes('0x00')}, 1)`
    })
    await onDatabase(
      empty.url,
      `INSERT INTO outputs (id, bytes, "blockId", "bookedSlot") VALUES ${outputs}`,
    )

    for (const migration of later)
      cpSync(join(database.migrations.path, migration), join(migrations, migration), {
        recursive: true,
      })
    expect(await run()).toEqual({ ok: true, value: later })
    const found = await database.writer.block.findMany()
    const kinds = found.map(({ id, kind }) => [bytesToHex(id), numberToKind(kind)] as const)
    expect(new Map(kinds)).toEqual(expected)
    expect(new Set(expected.values())).toEqual(
      new Set(['basic', 'validation', 'candidacy', 'tagged', 'transaction']),
    )
    const codes = await database.writer.output.findMany({ orderBy: { id: 'asc' } })
    expect(codes.map(({ kind }) => kind)).toEqual([0, 1, 2, 3, 4, 5])
    const kept = await database.writer.blockParent.findMany({ orderBy: { inbox: 'asc' } })
    expect(kept).toEqual(
      children.map((_child, i) => ({ parent: hexToBytes(parent), inbox: BigInt(i + 1) })),
    )
  })

  test.runIf(name === 'sqlite')(
    'of a gateway leave the event loop free, so that it serves its metrics',
    async () => {
      const { url } = empty
      const former = await openDatabase({ url, log: silentLog, schema: { upTo: first } })
      if (!former.ok) throw new Error(former.error.code)
      await former.value.close()
      let turns = 0
      const turnsAt = new Map<string, number>()
      const record = (event: string) => void turnsAt.set(event, turns)
      const timer = setInterval(() => turns++, 0)
      const migrated = await openDatabase({
        url,
        log: { info: record, warn: record },
        writesOn: 'THREAD',
      })
      clearInterval(timer)
      if (!migrated.ok) throw new Error(migrated.error.code)
      await migrated.value.close()
      expect([...turnsAt.keys()]).toEqual(['migrating', 'migrations-applied'])
      expect(turnsAt.get('migrations-applied')).toBeGreaterThan(turnsAt.get('migrating') ?? 0)
    },
  )

  test('may contain semicolons in texts and comments', async () => {
    await run()
    add('99990101000000_later', "CREATE TABLE later (id TEXT DEFAULT 'a;b'); -- one; two")
    expect(await run()).toMatchObject({ ok: true })
    expect(await tables()).toContain('later')
  })

  test('that fail leave nothing, and roll back the ones before them', async () => {
    add('99990101000000_sound', 'CREATE TABLE sound (id BIGINT PRIMARY KEY);')
    add('99990102000000_broken', 'CREATE TABLE half (id BIGINT PRIMARY KEY); CREATE NONSENSE;')
    await expect(run()).rejects.toThrow('a migration failed')
    expect(await tables()).toEqual([])
  })

  test('that the program does not know belong to a newer database', async () => {
    add('99990101000000_later', 'CREATE TABLE later (id BIGINT PRIMARY KEY);')
    await run()
    rmSync(join(migrations, '99990101000000_later'), { recursive: true })
    const migration = '99990101000000_later'
    const error = { code: 'DATABASE_NEWER_THAN_PROGRAM', migration }
    expect(await run()).toEqual({ ok: false, error })
  })

  test('whose file has changed are rejected, and no later one is applied', async () => {
    await run()
    writeFileSync(join(migrations, first, 'migration.sql'), '-- something else')
    add('99990101000000_later', 'CREATE TABLE later (id BIGINT PRIMARY KEY);')
    const error = { code: 'MIGRATION_CHANGED', migration: first }
    expect(await run()).toEqual({ ok: false, error })
    expect(await tables()).not.toContain('later')
  })

  test('that another tool left unfinished are rejected', async () => {
    await run()
    await database.writer.$executeRawUnsafe('UPDATE _prisma_migrations SET finished_at = NULL')
    const error = { code: 'MIGRATION_UNFINISHED', migration: first }
    expect(await run()).toEqual({ ok: false, error })
  })

  // On SQLite one process cannot play several: a wait for a lock would block the connection that holds it.
  test.runIf(name === 'postgresql')(
    'that several processes start at once are applied by one of them',
    async () => {
      const answers = await Promise.all([run(), run(), run()])
      const applied = answers.map((answer) => answer.ok && answer.value.length)
      expect(applied.toSorted()).toEqual([0, 0, shipped.length])
    },
  )
})

describe('the schema', () => {
  test('of sqlite equals the result of its migrations', async () => {
    expect(await migrationScript(sqliteFiles, sqliteForScripts())).toBe('')
  })

  test('of postgresql equals the result of its migrations', async () => {
    const { url } = inject('postgresql')
    expect(await migrationScript(postgresqlFiles, postgresqlForScripts(url))).toBe('')
  })

  test('of postgresql is derived from that of sqlite by npm run migration', () => {
    expect(readFileSync(postgresqlSchemaFile, 'utf8')).toBe(postgresqlSchema())
  })
})
