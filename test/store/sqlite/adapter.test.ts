import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type ArgScalarType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { present } from '../../../src/lib/assert.ts'
import { storeFaultOf } from '../../../src/store/faults.ts'
import { openFile } from '../../../src/store/sql/sqlite/file.ts'
import { sqliteConnection } from '../../../src/store/sqlite/adapter.ts'
import { createStatementCache, maxStatements } from '../../../src/store/sqlite/statements.ts'
import { databases, useDatabase, useStore } from '../../support/databases.ts'
import { extremeUpdate, greatestInteger } from '../../support/store-rows.ts'

/** Tests Prisma's protocol over Node's SQLite against what Prisma expects of an adapter. */

let folder: string
let file: string
let database: DatabaseSync
let connection: SqlDriverAdapter

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-adapter-'))
  // In a path, characters with a special meaning in a URL have none.
  file = join(folder, 'a 50%?b#c.db')
  database = openFile(file, 'WRITE')
  connection = sqliteConnection(database)
  await connection.executeScript(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE things (
      id BIGINT PRIMARY KEY, bytes BLOB, text TEXT NOT NULL DEFAULT '', flag BOOLEAN, small INTEGER,
      at DATETIME, UNIQUE (small, text))`)
})

afterEach(() => {
  if (database.isOpen) database.close()
  rmSync(folder, { recursive: true })
})

/** A query with its parameters and their Prisma types. */
function query(sql: string, ...parameters: readonly (readonly [ArgScalarType, unknown])[]) {
  const argTypes = parameters.map(([scalarType]) => ({ scalarType, arity: 'scalar' as const }))
  return { sql, args: parameters.map(([, value]) => value), argTypes }
}

const queryText = (sql: string) => connection.queryRaw(query(sql))
const execute = (sql: string) => connection.executeRaw(query(sql))
const countThings = async () => (await queryText('SELECT count(*) FROM things')).rows[0]?.[0]

describe('values', () => {
  const whole = [
    ['0', 0],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', '9007199254740992'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ] as const
  test.each(whole)('the integer %s is returned exactly', async (digits, expected) => {
    const insert = 'INSERT INTO things (id) VALUES (?)'
    expect(await connection.executeRaw(query(insert, ['bigint', digits]))).toBe(1)
    expect((await queryText('SELECT id, typeof(id) FROM things')).rows).toEqual([
      [expected, 'integer'],
    ])
  })

  test('an integer beyond 64 bits is rejected and not truncated', async () => {
    const insert = query('INSERT INTO things (id) VALUES (?)', ['bigint', `${2n ** 63n}`])
    await expect(connection.executeRaw(insert)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
    })
    expect(await countThings()).toBe(0)
  })

  test('bytes, text and booleans are returned as they were written, and null as null', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const insert = 'INSERT INTO things (id, bytes, text, flag, small) VALUES (?, ?, ?, ?, ?)'
    const rows = [
      [
        ['int', 1],
        ['bytes', bytes.toString('base64')],
        ['string', 'Ä "x" 🜚'],
        ['boolean', true],
        ['int', -7],
      ],
      [
        ['int', 2],
        ['bytes', new Uint8Array()],
        ['string', ''],
        ['boolean', false],
        ['int', 0],
      ],
      [
        ['int', 3],
        ['bytes', null],
        ['string', 'null'],
        ['boolean', null],
        ['int', null],
      ],
    ] as const
    for (const row of rows) await connection.executeRaw(query(insert, ...row))
    expect(await queryText('SELECT id, bytes, text, flag, small FROM things ORDER BY id')).toEqual({
      columnNames: ['id', 'bytes', 'text', 'flag', 'small'],
      columnTypes: [
        ColumnTypeEnum.Int64,
        ColumnTypeEnum.Bytes,
        ColumnTypeEnum.Text,
        ColumnTypeEnum.Boolean,
        ColumnTypeEnum.Int32,
      ],
      rows: [
        [1, new Uint8Array(bytes), 'Ä "x" 🜚', 1, -7],
        [2, new Uint8Array(), '', 0, 0],
        [3, null, 'null', null, null],
      ],
    })
  })

  test('a time in milliseconds is returned as text, which is the form that Prisma reads', async () => {
    await execute('INSERT INTO things (id, at) VALUES (1, 1700000000123)')
    expect(await queryText('SELECT at FROM things')).toMatchObject({
      columnTypes: [ColumnTypeEnum.DateTime],
      rows: [['2023-11-14T22:13:20.123Z']],
    })
  })

  test('an expression has the type of its first non-null value', async () => {
    const sql = `SELECT a, b, c, d, e FROM (
      SELECT NULL AS a, NULL AS b, 1.5 AS c, x'00ff' AS d, NULL AS e
      UNION ALL SELECT 9223372036854775807, 'text', 2.0, NULL, NULL)`
    expect(await queryText(sql)).toMatchObject({
      columnTypes: [
        ColumnTypeEnum.Int64,
        ColumnTypeEnum.Text,
        ColumnTypeEnum.UnknownNumber,
        ColumnTypeEnum.Bytes,
        ColumnTypeEnum.Int32,
      ],
      rows: [
        [null, null, 1.5, new Uint8Array([0, 255]), null],
        ['9223372036854775807', 'text', 2, null, null],
      ],
    })
  })

  test('a parameter of a type that no table has is rejected and not read as null', async () => {
    const select = query('SELECT ?', ['datetime', new Date()])
    await expect(connection.queryRaw(select)).rejects.toMatchObject({
      cause: { kind: 'InvalidInputValue' },
    })
  })

  test('a result without rows has columns, and the result of an INSERT has none', async () => {
    expect(await queryText('SELECT id FROM things')).toEqual({
      columnNames: ['id'],
      columnTypes: [ColumnTypeEnum.Int64],
      rows: [],
    })
    const none = await queryText("INSERT INTO things (id, text) VALUES (1, 'x')")
    expect(none).toEqual({ columnNames: [], columnTypes: [], rows: [] })
    expect(await execute("UPDATE things SET text = 'y' WHERE id = 2")).toBe(0)
  })
})

describe('failures', () => {
  const rows = [
    [
      'INSERT INTO things (id) VALUES (1)',
      {
        kind: 'UniqueConstraintViolation',
        originalCode: 'SQLITE_CONSTRAINT_PRIMARYKEY',
        originalMessage: 'UNIQUE constraint failed: things.id',
        constraint: { fields: ['id'] },
        table: 'things',
      },
    ],
    [
      "INSERT INTO things (id, small, text) VALUES (2, 7, 'seven')",
      {
        kind: 'UniqueConstraintViolation',
        originalCode: 'SQLITE_CONSTRAINT_UNIQUE',
        constraint: { fields: ['small', 'text'] },
        table: 'things',
      },
    ],
    [
      'INSERT INTO things (id, text) VALUES (2, NULL)',
      {
        kind: 'NullConstraintViolation',
        originalCode: 'SQLITE_CONSTRAINT_NOTNULL',
        constraint: { fields: ['text'] },
      },
    ],
    [
      'INSERT INTO parts VALUES (8)',
      { kind: 'ForeignKeyConstraintViolation', originalCode: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
    ],
    ['SELECT * FROM colour', { kind: 'TableDoesNotExist', table: 'colour' }],
    ['SELECT colour FROM things', { kind: 'ColumnNotFound', column: 'colour' }],
    ['INSERT INTO things (colour) VALUES (1)', { kind: 'ColumnNotFound', column: 'colour' }],
    // Text in double quotes is always a name, never a string.
    ['SELECT "colour" FROM things', { kind: 'ColumnNotFound' }],
    [
      'SELEC 1',
      {
        kind: 'sqlite',
        extendedCode: 1,
        originalCode: 'SQLITE_ERROR',
        message: 'near "SELEC": syntax error',
      },
    ],
  ] as const
  test.each(rows)('%s', async (sql, cause) => {
    await connection.executeScript(`
      INSERT INTO things (id, small, text) VALUES (1, 7, 'seven');
      CREATE TABLE parts (thing BIGINT REFERENCES things (id))`)
    for (const way of [queryText, execute, connection.executeScript]) {
      await expect(way(sql)).rejects.toMatchObject({ name: 'DriverAdapterError', cause })
    }
  })

  test('a lock that is held for longer than the timeout', async () => {
    database.exec('BEGIN IMMEDIATE')
    const other = sqliteConnection(new DatabaseSync(file, { timeout: 1 }))
    const write = other.executeRaw(query('INSERT INTO things (id) VALUES (1)'))
    const cause = { kind: 'SocketTimeout', originalCode: 'SQLITE_BUSY' }
    await expect(write).rejects.toMatchObject({ cause })
    await other.dispose()
  })

  test('outside Prisma are distinguished by their error numbers', () => {
    const failureOf = (work: () => unknown) => {
      try {
        return work()
      } catch (failure) {
        return failure
      }
    }
    const path = join(folder, 'missing.db')
    const missing = failureOf(() => openFile(path, 'WRITE_EXISTING'))
    const message = `${path}: unable to open database file`
    expect(missing).toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 14, message })
    expect(storeFaultOf(missing)).toBe('AWAY')
    const text = join(folder, 'text')
    writeFileSync(text, 'no database, but long enough to be taken for one'.repeat(100))
    const noDatabase = failureOf(() => openFile(text, 'READ'))
    expect([storeFaultOf(noDatabase), (noDatabase as Error).message]).toEqual([
      'DAMAGED',
      `${text}: file is not a database`,
    ])
    const reading = openFile(file, 'READ')
    const readonly = failureOf(() => reading.exec('DELETE FROM things'))
    reading.close()
    expect(storeFaultOf(readonly)).toBe('NOT_WRITABLE')
    expect(storeFaultOf(failureOf(() => database.exec('SELEC 1')))).toBeUndefined()
  })
})

describe('transactions', () => {
  const insert = query('INSERT INTO things (id) VALUES (1)')

  test('leave nothing after a rollback, and the next transaction runs', async () => {
    const first = await connection.startTransaction()
    await first.executeRaw(insert)
    expect(await countThings()).toBe(1)
    await first.executeRaw(query('ROLLBACK'))
    await first.rollback()
    expect(await countThings()).toBe(0)
    const second = await connection.startTransaction('SERIALIZABLE')
    await second.executeRaw(insert)
    await second.executeRaw(query('COMMIT'))
    await second.commit()
    expect([await countThings(), database.isTransaction]).toEqual([1, false])
  })

  test('run one after the other in the order of their requests', async () => {
    const begun: string[] = []
    const first = await connection.startTransaction()
    const others = ['second', 'third'].map(async (name) => {
      const transaction = await connection.startTransaction()
      begun.push(name)
      await transaction.executeRaw(query('COMMIT'))
      await transaction.commit()
    })
    await first.executeRaw(insert)
    expect(begun).toEqual([])
    await first.executeRaw(query('COMMIT'))
    await first.commit()
    await Promise.all(others)
    expect(begun).toEqual(['second', 'third'])
  })

  test('are not left open after a failed commit', async () => {
    await connection.executeScript(`
      CREATE TABLE parts (thing BIGINT REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`)
    const failing = await connection.startTransaction()
    await failing.executeRaw(query('INSERT INTO parts VALUES (8)'))
    await expect(failing.executeRaw(query('COMMIT'))).rejects.toMatchObject({
      cause: { kind: 'ForeignKeyConstraintViolation' },
    })
    expect(database.isTransaction).toBe(true)
    await failing.rollback()
    expect(database.isTransaction).toBe(false)
    const next = await connection.startTransaction()
    expect((await next.queryRaw(query('SELECT * FROM parts'))).rows).toEqual([])
  })

  test('that cannot begin do not block the next one', async () => {
    database.exec('BEGIN')
    await expect(connection.startTransaction()).rejects.toMatchObject({
      cause: { originalCode: 'SQLITE_ERROR' },
    })
    database.exec('COMMIT')
    await connection.startTransaction()
    expect(database.isTransaction).toBe(true)
  })

  test('with another isolation level than SQLite has are rejected', async () => {
    await expect(connection.startTransaction('READ COMMITTED')).rejects.toMatchObject({
      cause: { kind: 'InvalidIsolationLevel', level: 'READ COMMITTED' },
    })
  })

  test('are invisible to other connections until they commit, and do not wait for them', async () => {
    const reader = sqliteConnection(openFile(file, 'READ'))
    const visibleRows = async () => (await reader.queryRaw(query('SELECT id FROM things'))).rows
    const writing = await connection.startTransaction()
    await writing.executeRaw(insert)
    expect(await visibleRows()).toEqual([])
    const reading = await reader.startTransaction()
    expect((await reading.queryRaw(query('SELECT id FROM things'))).rows).toEqual([])
    await writing.executeRaw(query('COMMIT'))
    await writing.commit()
    expect((await reading.queryRaw(query('SELECT id FROM things'))).rows).toEqual([])
    await reading.executeRaw(query('COMMIT'))
    await reading.commit()
    expect(await visibleRows()).toEqual([[1]])
    await reader.dispose()
  })
})

describe('statements', () => {
  test('are prepared once, and the cache has a limited size', () => {
    let prepared = 0
    const kept = createStatementCache(database, () => ++prepared)
    const preparedAs = (n: number) => kept.get(`SELECT ${n}`).note
    for (let n = 0; n < maxStatements; n++) preparedAs(n)
    expect([preparedAs(0), prepared]).toEqual([1, maxStatements])
    // One more statement evicts the least recently used one, and no other.
    preparedAs(maxStatements)
    expect([preparedAs(0), preparedAs(2), prepared]).toEqual([1, 3, maxStatements + 1])
    expect(preparedAs(1)).toBe(maxStatements + 2)
  })

  /** Opens a connection and records the texts that it prepares. */
  function recordingConnection() {
    const texts: string[] = []
    class RecordingDatabase extends DatabaseSync {
      override prepare(sql: string) {
        texts.push(sql)
        return super.prepare(sql)
      }
    }
    return { connection: sqliteConnection(new RecordingDatabase(file)), texts }
  }

  test('of Prisma are cached, except those with large parameters', async () => {
    const { connection, texts } = recordingConnection()
    const lengthOf = (text: string) =>
      connection.queryRaw(query('SELECT length(?)', ['string', text]))
    for (let n = 0; n < 3; n++) await lengthOf('short')
    expect(texts).toHaveLength(1)
    // A prepared statement holds its parameters until it gets others.
    expect((await lengthOf('x'.repeat(100_000))).rows).toEqual([[100_000]])
    await lengthOf('short')
    expect(texts).toHaveLength(2)
    await connection.dispose()
  })

  test('that are cached notice that another connection has changed the table', async () => {
    const sql = 'SELECT * FROM things'
    await execute('INSERT INTO things (id) VALUES (1)')
    expect((await queryText(sql)).columnNames).toHaveLength(6)
    const other = openFile(file, 'WRITE')
    other.exec('ALTER TABLE things ADD COLUMN later BIGINT DEFAULT 5')
    other.close()
    for (let n = 0; n < 2; n++) {
      const { columnNames, columnTypes, rows } = await queryText(sql)
      expect([columnNames.at(-1), columnTypes.length, rows[0]?.at(-1)]).toEqual(['later', 7, 5])
    }
  })
})

describe('a connection', () => {
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]

  test("has the settings that differ from the defaults of Node's build", () => {
    expect(['cache_size', 'temp_store', 'foreign_keys', 'busy_timeout'].map(pragma)).toEqual([
      -16_384, 2, 1, 5_000,
    ])
  })

  test('opens without a warning of this version of Node', () => {
    const { stderr, status } = spawnSync(process.execPath, ['-e', "require('node:sqlite')"], {
      encoding: 'utf8',
    })
    expect([stderr, status]).toEqual(['', 0])
  })
})

describe('Prisma over the adapter', () => {
  const use = useStore(present(databases[0], 'sqlite').create)
  const prisma = useDatabase(use)

  test('writes and reads every type of our tables', async () => {
    await prisma.opened.writer.ledgerUpdate.create({ data: extremeUpdate })
    expect(await prisma.opened.reader.ledgerUpdate.findMany()).toEqual([extremeUpdate])
    expect(
      await prisma.opened.reader.ledgerUpdate.findUnique({ where: { seq: greatestInteger } }),
    ).toEqual(extremeUpdate)
    const raw = await prisma.opened.reader.$queryRaw`
      SELECT * FROM ledger_updates WHERE seq = ${greatestInteger} AND address = ${extremeUpdate.address}`
    expect(raw).toEqual([extremeUpdate])
    const aggregated = await prisma.opened.reader.ledgerUpdate.aggregate({
      _max: { seq: true },
      _count: true,
    })
    expect(aggregated).toEqual({ _max: { seq: greatestInteger }, _count: 1 })
  })

  test("returns Prisma's error codes", async () => {
    await prisma.opened.writer.ledgerUpdate.create({ data: extremeUpdate })
    const again = prisma.opened.writer.ledgerUpdate.create({ data: extremeUpdate })
    await expect(again).rejects.toBeInstanceOf(Prisma.PrismaClientKnownRequestError)
    await expect(again).rejects.toMatchObject({ code: 'P2002' })
    const missing = prisma.opened.writer.ledgerUpdate.update({
      where: { seq: 1n },
      data: { class: 0 },
    })
    await expect(missing).rejects.toMatchObject({ code: 'P2025' })
    await prisma.opened.writer.$executeRaw`DROP TABLE imports`
    await expect(prisma.opened.writer.import.findMany()).rejects.toMatchObject({ code: 'P2021' })
    const raw = prisma.opened.writer.$queryRaw`SELECT * FROM imports`
    await expect(raw).rejects.toMatchObject({ code: 'P2010' })
  })

  test('keeps nothing of a transaction that throws', async () => {
    const failing = prisma.opened.writer.$transaction(async (tx) => {
      await tx.ledgerUpdate.create({ data: extremeUpdate })
      expect(await tx.ledgerUpdate.count()).toBe(1)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await prisma.opened.writer.ledgerUpdate.count()).toBe(0)
    await prisma.opened.writer.$transaction([
      prisma.opened.writer.ledgerUpdate.create({ data: extremeUpdate }),
    ])
    expect(await prisma.opened.reader.ledgerUpdate.count()).toBe(1)
  })
})
