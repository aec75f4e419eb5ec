import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Pool, type PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Pipeline, pipelineOf } from '../../../src/store/postgresql/pipeline.ts'
import { createStatements } from '../../../src/store/postgresql/statements.ts'
import { databases, useStore } from '../../support/databases.ts'

/** Tests statements of one connection of PostgreSQL that are sent in batches. */

describe.each(databases.filter(({ name }) => name === 'postgresql'))('a pipeline', ({ create }) => {
  const use = useStore(create)
  const { of } = createStatements()
  let pool: Pool
  let client: PoolClient
  let pipeline: Pipeline
  let release: () => void

  beforeEach(async () => {
    pool = new Pool({ connectionString: use.url, max: 1 })
    client = await pool.connect()
    client.on('error', () => {})
    release = () => client.release()
    pipeline = pipelineOf(client)
  })
  afterEach(async () => {
    await pipeline.drained()
    release()
    await pool.end()
  })

  const divide = (by: number) => pipeline.query(of('SELECT 12 / CAST(? AS INT)', [by]))

  test('sends the statements of one event loop turn in one message', async () => {
    for (let n = 1; n <= 3; n++) {
      const answers = await Promise.all([divide(3), pipeline.query(of('SELECT 7', [])), divide(4)])
      expect(answers).toEqual([[[4]], [[7]], [[3]]])
      expect(pipeline.messages()).toBe(n)
    }
  })

  test('reads values of every type, and none or many rows', async () => {
    const bytes = new Uint8Array([0, 92, 255])
    const values = [bytes, 'text', 2 ** 53 - 1, true, null]
    const text = `SELECT CAST(? AS BYTEA), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BOOLEAN),
      CAST(? AS INT), false, 9223372036854775807`
    // The second time the server no longer describes the columns.
    for (let n = 0; n < 2; n++) {
      const [row] = await pipeline.query(of(text, values))
      expect(row).toEqual([bytes, 'text', 2 ** 53 - 1, true, null, false, 9223372036854775807n])
    }
    const series = 'SELECT n FROM generate_series(1, CAST(? AS INT)) AS n'
    expect(await pipeline.query(of(series, [0]))).toEqual([])
    expect((await pipeline.query(of(series, [5_000]))).length).toBe(5_000)
  })

  test('forwards messages that are no responses to the driver', async () => {
    const notices: (string | undefined)[] = []
    client.on('notice', ({ message }) => notices.push(message))
    const notice = of("DO $$ BEGIN RAISE NOTICE 'between'; END $$", [])
    for (let n = 0; n < 2; n++) {
      const answers = await Promise.all([divide(3), pipeline.query(notice), divide(4)])
      expect(answers).toEqual([[[4]], [], [[3]]])
    }
    expect(notices).toEqual(['between', 'between'])
    expect((await client.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }])
    expect(await divide(2)).toEqual([[6]])
  })

  test('fails the statements after a failed one in the same message, and none before or later', async () => {
    for (let n = 0; n < 2; n++) {
      const answers = await Promise.allSettled([divide(6), divide(0), divide(2)])
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
      expect(answers[1]).toMatchObject({ reason: { code: '22012' } })
      expect(await divide(2)).toEqual([[6]])
    }
  })

  test('prepares a statement again if another process left its name behind', async () => {
    const { name = '', text } = of('SELECT 12 / CAST(? AS INT)', [1])
    await pipeline.query({ text: `PREPARE ${name} AS SELECT 1`, name: undefined, values: [] })
    expect(text).toContain('$1')
    expect(await divide(2)).toEqual([[6]])
  })

  test('fails its statements after its connection is lost', async () => {
    const lost = pipeline.query(of('SELECT pg_terminate_backend(pg_backend_pid())', []))
    await expect(lost).rejects.toMatchObject({ code: '57P01' })
    await expect(divide(2)).rejects.toThrow()
  })

  test('fails the next statements if its connection is lost between the last response and the end of a batch', async () => {
    const proxy = await openUnfinishedProxy(Number(new URL(use.url).port))
    const url = Object.assign(new URL(use.url), { port: proxy.port }).href
    const proxied = new Pool({ connectionString: url, max: 1 })
    try {
      const behind = await proxied.connect()
      behind.on('error', () => {})
      const lossy = pipelineOf(behind)
      const ask = () => lossy.query(of('SELECT 12 / CAST(? AS INT)', [4]))
      expect(await ask()).toEqual([[3]])
      proxy.leaveUnfinished()
      const first = ask()
      const second = first.then(ask)
      expect(await first).toEqual([[3]])
      await expect(second).rejects.toThrow('Client has encountered a connection error')
      behind.release(true)
    } finally {
      await proxied.end()
      proxy.close()
    }
  })

  test('sends commands before the next statement', async () => {
    pipeline.command({ text: 'BEGIN', name: 'begin', values: [] })
    pipeline.command({ text: "SET LOCAL lock_timeout = '3s'", name: 'limit', values: [] })
    const setting = of("SELECT current_setting('lock_timeout')", [])
    expect(await pipeline.query(setting)).toEqual([['3s']])
    pipeline.command({ text: 'COMMIT', name: 'commit', values: [] })
    expect(await pipeline.query(setting)).toEqual([['0']])
    expect(pipeline.messages()).toBe(2)
  })
})

/** Opens a proxy that can withhold the end of the next response, as a server does that crashes, and closes the connection then. */
async function openUnfinishedProxy(port: number) {
  let isLast = false
  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1')
    socket.pipe(upstream)
    upstream.on('data', (bytes) => {
      if (isLast) socket.end(bytes.subarray(0, -readyForQueryLength))
      else socket.write(bytes)
    })
    for (const end of [socket, upstream]) end.on('error', () => {})
    socket.on('close', () => upstream.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: String((server.address() as AddressInfo).port),
    leaveUnfinished: () => {
      isLast = true
    },
    close: () => void server.close(),
  }
}

/** Bytes of the last message of a response (PostgreSQL manual, 54.7). */
const readyForQueryLength = 6
