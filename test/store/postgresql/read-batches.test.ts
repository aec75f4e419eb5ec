import { Pool, type PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createReadBatches } from '../../../src/store/postgresql/read-batches.ts'
import { createStatements } from '../../../src/store/postgresql/statements.ts'
import { databases, useStore } from '../../support/databases.ts'

/** Tests single reads of PostgreSQL that share connections and messages. */

describe.each(databases.filter(({ name }) => name === 'postgresql'))(
  'single reads',
  ({ create }) => {
    const use = useStore(create)
    const { of } = createStatements()
    let pool: Pool
    let connections: number
    let run: ReturnType<typeof createReadBatches>['run']

    beforeEach(() => {
      pool = new Pool({ connectionString: use.url, max: 4 })
      pool.on('connect', (client) => client.on('error', () => {}))
      connections = 0
      const take = (): Promise<PoolClient> => {
        connections++
        return pool.connect()
      }
      run = createReadBatches({ take }).run
    })
    afterEach(() => pool.end())

    const divide = (by: number) => run(of('SELECT 12 / CAST(? AS INT)', [by]))
    const slow = () => run(of('SELECT 8 FROM pg_sleep(CAST(? AS FLOAT))', [0.1]))

    test('have a connection each while few are busy, and share connections beyond that', async () => {
      const numbers = Array.from({ length: 2 + 8 + 8 + 3 }, (_, n) => n + 1)
      const answers = await Promise.all(numbers.map(divide))
      expect(answers).toEqual(numbers.map((by) => [[Math.floor(12 / by)]]))
      expect(connections).toBe(2 + 3)
      await divide(1)
      await divide(2)
      expect(connections).toBe(2 + 3 + 2)
    })

    test('do not wait for a slow read that began in another turn', async () => {
      const order: string[] = []
      const first = [slow(), slow()].map((read) => read.then(() => order.push('slow')))
      await divide(3).then(() => order.push('later'))
      await Promise.all(first)
      expect(order).toEqual(['later', 'slow', 'slow'])
    })

    test('fail alone', async () => {
      const by = [1, 0, 2, 3, 0, 4, 0, 0, 6, 12]
      for (let n = 0; n < 2; n++) {
        const answers = await Promise.allSettled(by.map(divide))
        const expected = by.map((one) =>
          one === 0
            ? { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) }
            : { status: 'fulfilled', value: [[12 / one]] },
        )
        expect(answers).toEqual(expected)
      }
    })

    test('survive the loss of their shared connection', async () => {
      const end = () => run(of('SELECT pg_terminate_backend(pg_backend_pid())', []))
      const answers = await Promise.allSettled([
        divide(1),
        divide(2),
        divide(3),
        end(),
        divide(4),
        divide(6),
      ])
      expect(answers.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ])
      expect(answers[3]).toMatchObject({ reason: { code: '57P01' } })
      expect(await divide(12)).toEqual([[1]])
    })

    test('all fail without a server', async () => {
      const away = createReadBatches({ take: () => Promise.reject(new Error('away')) })
      const answers = await Promise.allSettled([1, 2, 3, 4].map(() => away.run(of('SELECT 1', []))))
      const rejected = { status: 'rejected', reason: new Error('away') }
      expect(answers).toEqual([rejected, rejected, rejected, rejected])
    })
  },
)
