import { hash } from 'node:crypto'
import { type CustomTypesConfig, Pool, type PoolConfig, type QueryArrayConfig } from 'pg'
import { assert } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import type { Database, Parameter, Rows } from './database.ts'

/** The reads of PostgreSQL by the driver alone, on a pool of their own, by named prepared statements. */

/** Reads until it is closed. */
export interface PostgresqlReads extends Pick<Database, 'query' | 'queryBoth'> {
  close(): Promise<void>
}

/** Nothing is connected before the first read. */
export function openReads(settings: PoolConfig): PostgresqlReads {
  const pool = new Pool({ ...settings, types })
  // An idle connection was lost; the pool makes another.
  pool.on('error', () => {})
  const statements = new Map<string, Statement>()
  let isClosed = false
  /** A pooler that gives out transactions loses names: what one connection prepared, the next does not know, or knows already. */
  let hasNames = true

  function statementOf(sql: string): Statement {
    const known = statements.get(sql)
    if (known !== undefined) return known
    // Each connection keeps each of them on the server. Texts that are put together may be many.
    const name = statements.size < mostNamed ? nameOf(sql) : undefined
    const statement = { text: numbered(sql), name }
    if (name !== undefined) statements.set(sql, statement)
    return statement
  }

  async function run({ text, name }: Statement, values: readonly Parameter[]): Promise<Rows> {
    const query: QueryArrayConfig = { text, values: [...values], rowMode: 'array' }
    const { rows } = await pool.query<unknown[]>(name === undefined ? query : { ...query, name })
    return rows
  }

  async function query(sql: string, parameters: readonly Parameter[]) {
    assert(!isClosed, 'the store is open')
    const statement = statementOf(sql)
    const plain = { text: statement.text, name: undefined }
    if (!hasNames) return await run(plain, parameters)
    try {
      return await run(statement, parameters)
    } catch (failure) {
      if (statement.name === undefined || !isNameLost(failure)) throw failure
      hasNames = false
      return await run(plain, parameters)
    }
  }

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await pool.end()
  }

  return {
    query,
    // The parts of a union come in the order written, and the rows in the order of their own part.
    queryBoth: (first, second, parameters) =>
      query(`${first} UNION ALL SELECT * FROM (${second}) AS second`, parameters),
    close,
  }
}

interface Statement {
  /** With the parameters as PostgreSQL counts them. */
  readonly text: string
  readonly name: string | undefined
}

function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll(/\?(\d*)/g, (_mark, place: string) => `$${place || ++count}`)
}

/** Made of the text: behind a pooler the name of another process means the same statement. */
function nameOf(sql: string): string {
  return `lg_${hash('sha256', sql).slice(0, 32)}`
}

/** invalid_sql_statement_name, duplicate_prepared_statement (PostgreSQL manual, appendix A). */
function isNameLost(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined
  return code === '26000' || code === '42P05'
}

/** The program's own texts are fewer than a hundred. */
const mostNamed = 200

/** What the columns of our tables are made of (pg_type): bytes, bigint and integers, truth values; all else stays text. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, (text: string) => hexToBytes(`0x${text.slice(2)}`)],
  [20, wholeNumber],
  [23, Number],
])

/** `getTypeParser` of the driver. */
const types = {
  getTypeParser: (type: number) => parsers.get(type) ?? String,
} as CustomTypesConfig

/** A number where it is exact. */
function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
