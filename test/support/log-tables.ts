import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'

/** Reads the tables of a log without the store. Gateways over the same ledger must have equal tables. */

/** The compared tables, with the columns that are equal in all databases of a ledger. */
const compared = {
  ledger_updates: [
    ['seq', 'address', 'class', 'ordinal', 'roles', 'milestoneIndex'],
    ['outputId', 'isSpent', 'historyHash', 'balance', 'isLastOfTransaction'],
  ].flat(),
  commitments: ['slot', 'id', 'bytes', 'firstSeq', 'lastSeq'],
  outputs: ['id', 'bytes', 'blockId', 'bookedSlot', 'spentSlot', 'spentBy'],
  unspent_outputs: ['outputId', 'kind', 'bookedSlot'],
  balances: ['address', 'total', 'outputs'],
  token_balances: ['address', 'tokenId', 'total'],
  chain_states: ['chainId', 'ordinal', 'kind', 'bookedSlot', 'outputId'],
  network: ['logId', 'parameters'],
} as const

type TableName = keyof typeof compared

/** Rows as text, by table. If no slot after the requested one changed anything, the rows contain nothing after that slot. */
export type LogTables = Readonly<Record<TableName, readonly string[]>>

/** Reads the tables from SQLite or PostgreSQL. */
export async function logTables(url: string, upTo: number): Promise<LogTables> {
  const all = url.startsWith('file:') ? await fromSqlite(url) : await fromPostgresql(url)
  const commitments = all.commitments.filter(([slot]) => Number(slot) <= upTo)
  const entries = Object.entries({ ...all, commitments }).map(([name, rows]) => [
    name,
    rows.map((row) => row.join(' ')).sort(),
  ])
  return Object.fromEntries(entries)
}

type Rows = readonly (readonly string[])[]
type Tables = Readonly<Record<TableName, Rows>>

async function fromSqlite(url: string): Promise<Tables> {
  const database = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
  const tables = readAll(async (sql) => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    statement.setReadBigInts(true)
    return statement.all()
  })
  return tables.finally(() => database.close())
}

async function fromPostgresql(url: string): Promise<Tables> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const tables = readAll(async (text) => (await client.query({ text, rowMode: 'array' })).rows)
  return tables.finally(() => client.end())
}

async function readAll(query: (sql: string) => Promise<readonly unknown[]>): Promise<Tables> {
  const tables: [string, Rows][] = []
  for (const [name, columns] of Object.entries(compared)) {
    const names = columns.map((column) => `"${column}"`).join(', ')
    const rows = await query(`SELECT ${names} FROM ${name}`)
    tables.push([name, rows.map((row) => (row as readonly unknown[]).map(inWords))])
  }
  return Object.fromEntries(tables) as unknown as Tables
}

/** Converts a value to text, because the two databases have different types for the same value. */
function inWords(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'boolean') return value ? '1' : '0'
  return String(value)
}
