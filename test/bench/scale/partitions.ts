import { present } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import type { Database } from '../../../src/store/database.ts'
import { addressesFor, addressOf, busyAddress, growLog } from '../large-log.ts'
import { median, printTable } from '../measure.ts'

/** The log of PostgreSQL in parts, against the log in one: by ranges of positions, and its index by addresses besides. */

/** How many parts of each kind. */
const parts = 10

/** A form of the log: what makes it, and in which table a page of an address is looked up. */
interface Form {
  readonly name: string
  readonly tables: readonly string[]
  readonly page: string
  readonly insert: readonly string[]
}

const columns =
  'seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash"'

/** Measures the forms in turns, each with the same rows. */
export async function measurePartitions(database: Database, rows: number): Promise<void> {
  const { writer } = database
  const forms = formsOf(rows)
  await growLog(database, { from: 2, to: rows, slot: 1 })
  for (const { tables } of forms) for (const sql of tables) await writer.$executeRawUnsafe(sql)
  await writer.$queryRawUnsafe('VACUUM ANALYZE')
  await writer.$queryRawUnsafe('CHECKPOINT')
  const times = new Map<string, Times>(
    forms.map(({ name }) => [name, { page: [], few: [], insert: [] }]),
  )
  for (let n = 0; n < rounds; n++) {
    for (const form of forms) {
      const { page, few, insert } = present(times.get(form.name), 'times')
      for (let i = 0; i < pagesInRound; i++) {
        const after = Math.floor(Math.random() * rows * 0.9)
        page.push(await pageTime(database, form, { address: busyAddress, after }))
        const quiet = 1 + Math.floor(Math.random() * (addressesFor(rows) - 1))
        few.push(await pageTime(database, form, { address: addressOf(quiet), after: 0 }))
      }
      insert.push(await insertTime(database, form, rows + n * rowsOfSlot))
    }
  }
  console.log(`\npostgresql: ${rows} rows, ${parts} parts of each kind, medians`)
  printTable([
    ['log', 'page of 100 of an address', 'all of one with some ten', `adding ${rowsOfSlot} rows`],
    ...[...times].map(([name, { page, few, insert }]) => [
      name,
      `${median(page).toFixed(2)} ms`,
      `${median(few).toFixed(2)} ms`,
      `${median(insert).toFixed(1)} ms`,
    ]),
  ])
}

interface Times {
  readonly page: number[]
  readonly few: number[]
  readonly insert: number[]
}

const rounds = 25
const pagesInRound = 20
const rowsOfSlot = 3_000

async function pageTime(
  { reader }: Database,
  { page }: Form,
  { address, after }: { readonly address: Hex; readonly after: number },
): Promise<number> {
  const key = Buffer.from(address.slice(2), 'hex')
  const begun = performance.now()
  const found = await reader.$queryRawUnsafe<unknown[]>(page, key, after)
  if (found.length !== 100 && address === busyAddress) throw new Error(`${found.length} rows`)
  return performance.now() - begun
}

/** The rows of a slot, of addresses all over the place, made by the database itself. */
async function insertTime({ writer }: Database, form: Form, after: number): Promise<number> {
  const begun = performance.now()
  await writer.$transaction(
    form.insert.map((sql) => writer.$executeRawUnsafe(sql, after, rowsOfSlot)),
  )
  return performance.now() - begun
}

function formsOf(rows: number): Form[] {
  const width = Math.ceil((rows + (rounds + 1) * rowsOfSlot) / parts)
  return [inOne(), byRanges(width), byRangesAndAddresses(width)]
}

function inOne(): Form {
  return {
    name: 'in one',
    tables: [
      `CREATE TABLE log_whole (${like}, PRIMARY KEY (seq))`,
      'CREATE INDEX ON log_whole (address, class, seq)',
      copyInto('log_whole'),
    ],
    page: pageOf('log_whole'),
    insert: [insertInto('log_whole')],
  }
}

function byRanges(width: number): Form {
  return {
    name: 'by ranges of positions',
    tables: [
      ...rangesOf('log_ranges', width),
      'CREATE INDEX ON log_ranges (address, class, seq)',
      copyInto('log_ranges'),
    ],
    page: pageOf('log_ranges'),
    insert: [insertInto('log_ranges')],
  }
}

function byRangesAndAddresses(width: number): Form {
  const key = 'address bytea, class int, seq bigint, PRIMARY KEY (address, class, seq)'
  const places = Array.from(
    { length: parts },
    (_, i) => `CREATE TABLE log_places_${i} PARTITION OF log_places
      FOR VALUES WITH (MODULUS ${parts}, REMAINDER ${i})`,
  )
  return {
    name: 'by ranges, its index by addresses',
    tables: [
      ...rangesOf('log_bare', width),
      copyInto('log_bare'),
      `CREATE TABLE log_places (${key}) PARTITION BY HASH (address)`,
      ...places,
      'INSERT INTO log_places SELECT address, class, seq FROM ledger_updates ORDER BY seq',
    ],
    page: `
      SELECT log_bare.* FROM (
        SELECT seq FROM log_places WHERE address = $1 AND class = 0 AND seq > $2::bigint
        ORDER BY seq LIMIT 100) AS places
      JOIN log_bare USING (seq) ORDER BY seq`,
    insert: [
      insertInto('log_bare'),
      `INSERT INTO log_places (address, class, seq) ${added('address, class, seq')}`,
    ],
  }
}

const like = 'LIKE ledger_updates INCLUDING DEFAULTS'

function rangesOf(table: string, width: number): string[] {
  const ranges = Array.from(
    { length: parts },
    (_, i) => `CREATE TABLE ${table}_${i} PARTITION OF ${table}
      FOR VALUES FROM (${i * width}) TO (${(i + 1) * width})`,
  )
  return [`CREATE TABLE ${table} (${like}, PRIMARY KEY (seq)) PARTITION BY RANGE (seq)`, ...ranges]
}

function copyInto(table: string): string {
  return `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ledger_updates ORDER BY seq`
}

function pageOf(table: string): string {
  return `SELECT ${columns} FROM ${table} WHERE address = $1 AND class = 0 AND seq > $2::bigint
    ORDER BY seq LIMIT 100`
}

function insertInto(table: string): string {
  return `INSERT INTO ${table} (${columns}) ${added(columns)}`
}

/** Columns of the rows of a slot: the first parameter is the position before them, the second how many they are. */
function added(what: string): string {
  return `
    SELECT ${what} FROM (
      SELECT $1::bigint + i AS seq, 0 AS class, 1::bigint AS ordinal, 1 AS roles,
        decode('00' || lpad(to_hex(($1::bigint + i) * 2654435761 % 4294967296), 64, '0'), 'hex')
          AS address,
        2::bigint AS "milestoneIndex", false AS "isSpent", sha256(int8send(-i)) AS "historyHash",
        sha256(int8send(i)) || '\\x000000000000'::bytea AS "outputId"
      FROM generate_series(1, $2::int) AS numbers (i)) AS added`
}
