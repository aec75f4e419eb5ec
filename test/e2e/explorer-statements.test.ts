import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { type GraphLedger, makeGraphLedger } from '../bench/graph/ledger.ts'
import { questionsOf, type Variables } from '../bench/graph/questions.ts'
import { counting, statementsOf } from '../bench/graph/statements.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { textOf } from '../support/explorer-pages.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { untilCommitted } from '../support/wallet.ts'

/** The number of statements that a page of an explorer runs, counted in the driver, is bounded whatever the size of the page. */

/**
 * Limits on SQLite and on PostgreSQL: the largest observed number plus three, because a snapshot may begin and a slot may be committed
 * meanwhile. A page runs fewer statements if some of its rows are cached or if it is empty.
 */
const maxStatements = {
  home: [10, 13],
  milestone: [10, 12],
  block: [7, 10],
  transaction: [8, 10],
  address: [23, 23],
  account: [13, 15],
  nft: [9, 11],
  token: [8, 9],
  validators: [14, 14],
  search: [9, 10],
} as const

const names = Object.keys(maxStatements) as (keyof typeof maxStatements)[]
const sizes = [15, 240]
const requestsPerSize = 2

describe.each(databases)('on $name', ({ name: database, create }) => {
  const folder: Folder = makeFolder()
  let made: TestDatabase
  let ledger: GraphLedger
  let gateway: Program
  let questions: ReadonlyMap<string, readonly Variables[]>

  beforeAll(async () => {
    made = await create()
    ledger = await makeGraphLedger(made.url, `${folder.databaseFile}.key`, 1_000)
    questions = await questionsOf(ledger)
    gateway = await startProgram({ ...ledger.env, ...counting })
    await untilCommitted(gateway.url, ledger.lastSlot + 1)
  }, 240_000)
  afterAll(async () => {
    await gateway.end('SIGTERM')
    await made.remove()
    folder.remove()
  })

  test.each(names)(
    'the page %s runs no more statements for a large list than for a small one',
    async (name) => {
      const port = Number(new URL(gateway.url).port)
      const counts: number[] = []
      const limit = maxStatements[name][database === 'sqlite' ? 0 : 1]
      for (const size of sizes) {
        const text = textOf(name).replaceAll(/first: [0-9]+/g, `first: ${size}`)
        for (const one of present(questions.get(name), name).slice(0, requestsPerSize)) {
          const question = { name, text, variables: [one] }
          counts.push(await statementsOf({ ...gateway, port }, question, limit))
        }
      }
      expect(Math.max(...counts)).toBeLessThanOrEqual(limit)
      expect(Math.min(...counts)).toBeGreaterThan(0)
    },
    60_000,
  )
})
