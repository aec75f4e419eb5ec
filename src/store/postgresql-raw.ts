import type { Pool, QueryArrayResult } from 'pg'
import { hexToBytes } from '../lib/hex.ts'
import type { RawParameter, RawTx } from './client.ts'
import { transactionTimeoutMs } from './database.ts'
import type { RawConnection } from './raw-transactions.ts'

/**
 * Raw statements of the writer by the driver alone, on the one connection that its client has. An idle gateway runs
 * dozens of them a second for its slots, and Prisma's client takes more processor time for each than the driver.
 */
export function openRawConnection(pool: Pool, mostMs = transactionTimeoutMs): RawConnection {
  async function transact<T>(work: (tx: RawTx) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    // What loses the connection fails the statement that is under way, or the next one.
    const onLost = () => {}
    client.on('error', onLost)
    // Over a broken network no answer may ever come. To end a connection that waits for one is to cut it.
    const late = setTimeout(() => void client.end().catch(onLost), mostMs)
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

/** A pool, or a connection of it in a transaction. */
interface Asked {
  query(question: Question): Promise<QueryArrayResult<unknown[]>>
}

interface Question {
  readonly text: string
  readonly values: RawParameter[]
  readonly rowMode: 'array'
  readonly types: typeof types
}

function rawStatements(connection: Asked): RawTx {
  const ask = (text: string, parameters: readonly RawParameter[]) =>
    connection.query({ text, values: [...parameters], rowMode: 'array', types })

  return {
    $executeRawUnsafe: async (text, ...parameters) => (await ask(text, parameters)).rowCount ?? 0,
    // As Prisma gives them: the caller names what it has asked for.
    $queryRawUnsafe: async <Rows>(text: string, ...parameters: readonly RawParameter[]) =>
      rowsOf(await ask(text, parameters)) as Rows,
  }
}

function rowsOf({ fields, rows }: QueryArrayResult<unknown[]>): object[] {
  return rows.map((values) => {
    const row: { [column: string]: unknown } = {}
    for (let i = 0; i < fields.length; i++) row[fields[i]?.name ?? ''] = values[i]
    return row
  })
}

/** Values as Prisma gives them: bigints, bytes, numbers and truth values by their types (pg_type); all else is text. */
const types = {
  getTypeParser: (type: number): ((text: string) => unknown) => parsers.get(type) ?? String,
}

const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, (text: string) => hexToBytes(`0x${text.slice(2)}`)],
  [20, BigInt],
  [21, Number],
  [23, Number],
])
