import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { databases, type TestDatabase } from '../support/databases.ts'
import { runHistory } from './history/history.ts'

/** A short history. `npm run test:model` plays longer ones with other seeds. */
describe.each(databases)('a random history on $name', ({ create }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await create()
  })
  afterEach(() => database.remove())

  test('equals the model in its tables, answers and subscriptions', async () => {
    const { url: databaseUrl } = database
    const report = await runHistory({ databaseUrl, seed: 1, rounds: 8, players: 4 })
    expect(report.differences.slice(0, 3)).toEqual([])
    // A history in which little happened would prove little.
    expect(report.blocks).toBeGreaterThan(40)
    expect(report.rows).toBeGreaterThan(100)
    expect(report.compared).toBeGreaterThan(1_000)
  }, 120_000)
})
