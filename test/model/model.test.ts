import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { databases, type TestDatabase } from '../support/databases.ts'
import { runHistory } from './history/history.ts'

/** A short history with a new seed in every run. `npm run test:model -- --seed N` repeats it. */
describe.each(databases)('a random history on $name', ({ create }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await create()
  })
  afterEach(() => database.remove())

  test('equals the model in its tables, answers and subscriptions', async () => {
    const seed = Date.now() % 1_000_000
    const { url: databaseUrl } = database
    const report = await runHistory({ seed, databaseUrl, ...shortHistory })
    expect({ seed, differences: report.differences.slice(0, 3) }).toEqual({ seed, differences: [] })
    // A history in which little happened would prove little.
    expect(report.blocks).toBeGreaterThan(40)
    expect(report.rows).toBeGreaterThan(100)
    expect(report.compared).toBeGreaterThan(1_000)
  }, 120_000)
})

const shortHistory = { rounds: 8, players: 4 }
