import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { present } from '../../src/lib/assert.ts'
import { databases, onDatabase, type TestDatabase } from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** Finding codes, each with a damaged table and the statement that damages it. */
const damages: readonly (readonly [string, string, string])[] = [
  [
    'HISTORY_BROKEN',
    'ledger_updates',
    'UPDATE ledger_updates SET "historyHash" = (SELECT "historyHash" FROM ledger_updates WHERE seq = 1) WHERE seq = 2',
  ],
  ['LOG_POSITION_WRONG', 'ledger_updates', 'DELETE FROM ledger_updates WHERE seq = 2'],
  ['LOG_ROW_WRONG', 'outputs', 'UPDATE outputs SET "spentSlot" = "spentSlot" + 1'],
  [
    'COMMITMENT_WRONG',
    'commitments',
    `UPDATE commitments SET bytes = (SELECT bytes FROM commitments ORDER BY slot DESC LIMIT 1) WHERE slot = 1`,
  ],
  [
    'COMMITMENT_RANGE_WRONG',
    'commitments',
    'UPDATE commitments SET "lastSeq" = "lastSeq" + 1 WHERE slot = 1',
  ],
  ['COMMITMENT_ROOTS_WRONG', 'transactions', 'DELETE FROM transactions'],
  ['COMMITMENT_ROOTS_WRONG', 'account_versions', 'DELETE FROM account_versions WHERE slot = 0'],
  ['TRIE_PAGE_WRONG', 'trie_pages', 'DELETE FROM trie_pages WHERE id = 0'],
  ['BALANCE_WRONG', 'balances', 'UPDATE balances SET available = available + 1'],
  [
    'TOKEN_BALANCE_WRONG',
    'token_balances',
    `INSERT INTO token_balances (address, "tokenId", available, timelocked, expiring, total)
      SELECT address, "outputId", "historyHash", "historyHash", "historyHash", "historyHash" FROM ledger_updates WHERE seq = 1`,
  ],
  [
    'UNSPENT_OUTPUT_WRONG',
    'unspent_outputs',
    'DELETE FROM unspent_outputs WHERE "outputId" = (SELECT "outputId" FROM unspent_outputs ORDER BY "outputId" LIMIT 1)',
  ],
  ['OUTPUT_COUNT_WRONG', 'output_counts', 'UPDATE output_counts SET outputs = outputs + 1'],
  ['BALANCE_RANGE_WRONG', 'balance_ranges', 'UPDATE balance_ranges SET addresses = addresses + 1'],
  ['CHAIN_STATE_WRONG', 'chain_states', 'UPDATE chain_states SET ordinal = ordinal + 1'],
  ['ACTIVITY_WRONG', 'activity', 'UPDATE activity SET updates = updates + 1 WHERE resolution = 4'],
]

describe.each(databases)('a check on $name', ({ create }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
    const gateway = await startGateway({ env: { DATABASE_URL: database.url } })
    const { url } = gateway
    await untilHealth(url)
    const offer = await offerOf(url)
    const spend = present((await genesisOutputs(url, user(1)))[0], 'output')
    const outputs = [ownedBy(user(1), 400_000_000n), ownedBy(user(2), 600_000_000n)]
    const creationSlot = slotNow(offer.network)
    const { payload } = paymentOf(offer.network, { key: user(1), spend, outputs, creationSlot })
    await acceptedId(await post(url, blockOf(offer, payload).bytes))
    await untilCommitted(url, slotNow(offer.network))
    expect(await findings()).toEqual([])
    await gateway.close()
  })
  afterAll(() => database.remove())

  async function findings(): Promise<readonly { code: string; at: string }[]> {
    const { code, stdout, stderr } = await runCommand(check, [], {
      env: { DATABASE_URL: database.url },
    })
    const report = JSON.parse(stdout)
    expect([code, stderr]).toEqual(
      report.findings.length === 0
        ? [0, expect.not.stringContaining('findings')]
        : [1, expect.stringMatching(/ check: \d+ findings$/m)],
    )
    return report.findings
  }

  test.each(damages)('reports %s in %s', async (code, table, damage) => {
    await onDatabase(database.url, `CREATE TABLE undamaged AS SELECT * FROM ${table}`)
    await onDatabase(database.url, damage)
    expect((await findings()).map((one) => one.code)).toContain(code)
    const repair = `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM undamaged; DROP TABLE undamaged`
    await onDatabase(database.url, repair)
  })

  test('reports nothing in an undamaged ledger', async () => expect(await findings()).toEqual([]))

  test('is rejected on a database of an earlier version, and does not change it', async () => {
    const latest = '(SELECT max(migration_name) FROM _prisma_migrations)'
    await onDatabase(
      database.url,
      `CREATE TABLE undamaged AS SELECT * FROM _prisma_migrations WHERE migration_name = ${latest};
      DELETE FROM _prisma_migrations WHERE migration_name = ${latest}`,
    )
    const refused = await runCommand(check, [], { env: { DATABASE_URL: database.url } })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('by an earlier version: it lacks the migration'),
    })
    await onDatabase(
      database.url,
      'INSERT INTO _prisma_migrations SELECT * FROM undamaged; DROP TABLE undamaged',
    )
    expect(await findings()).toEqual([])
  })
})
