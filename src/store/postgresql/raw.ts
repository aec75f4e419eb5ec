import type { Pool, QueryArrayResult } from 'pg'
import type { RawParameter, RawTx } from '../client.ts'
import { transactionTimeoutMs } from '../database.ts'
import type { RawConnection } from '../raw-transactions.ts'
import { bytesOfText } from './messages.ts'

/**
 * Runs raw statements of the writer through the driver alone, on the one connection of its client. An idle gateway runs dozens of
 * statements per second for its slots, and each takes more processor time through Prisma's client.
 */
export function openRawConnection(pool: Pool, timeoutMs = transactionTimeoutMs): RawConnection {
  async function transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    // If the connection is lost, the current statement or the next one fails.
    const onLost = () => {}
    client.on('error', onLost)
    // Over a broken network a response may never arrive. `end` cuts a connection that waits for one.
    const late = setTimeout(() => void client.end().catch(onLost), timeoutMs)
    const release = (isLost: boolean) => {
      clearTimeout(late)
      client.off('error', onLost)
      client.release(isLost)
    }
    try {
      await client.query('BEGIN')
      const done = await work(rawStatements(client))
      await client.query('COMMIT')
      release(false)
      return done
    } catch (failure) {
      const isLost = await client.query('ROLLBACK').then(
        () => false,
        () => true,
      )
      release(isLost)
      throw failure
    }
  }

  return { ...rawStatements(pool), transact }
}

/** A pool, or one of its connections in a transaction. */
interface Queryable {
  query(query: Query): Promise<QueryArrayResult<unknown[]>>
}

interface Query {
  readonly text: string
  readonly values: RawParameter[]
  readonly rowMode: 'array'
  readonly types: typeof types
}

function rawStatements(connection: Queryable): RawTx {
  const run = (text: string, parameters: readonly RawParameter[]) =>
    connection.query({ text, values: [...parameters], rowMode: 'array', types })

  return {
    $executeRawUnsafe: async (text, ...parameters) => (await run(text, parameters)).rowCount ?? 0,
    // As in Prisma's client, the caller declares the type of the rows.
    $queryRawUnsafe: async <Rows>(text: string, ...parameters: readonly RawParameter[]) =>
      rowsOf(await run(text, parameters)) as Rows,
  }
}

function rowsOf({ fields, rows }: QueryArrayResult<unknown[]>): object[] {
  return rows.map((values) => {
    const row: { [column: string]: unknown } = {}
    for (let i = 0; i < fields.length; i++) row[fields[i]?.name ?? ''] = values[i]
    return row
  })
}

/** Parses values as Prisma does: bigints, bytes, numbers and booleans by their types (pg_type), and all other values as text. */
const types = {
  getTypeParser: (type: number): ((text: string) => unknown) => parsers.get(type) ?? String,
}

const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, bytesOfText],
  [20, BigInt],
  [21, Number],
  [23, Number],
])
