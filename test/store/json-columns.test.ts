import { expect, test } from 'vitest'
import { startMessage, tryOpenGateway } from '../../src/cli/run-gateway.ts'
import { parseConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { databaseLocation } from '../../src/store/url.ts'
import { defaultDatabase, onDatabase } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import { startGateway } from '../support/start-gateway.ts'

test('an epoch whose JSON cannot be read prevents the start with one sentence', async () => {
  const database = await defaultDatabase().create()
  const env = { DATABASE_URL: database.url, PORT: '0' }
  await (await startGateway({ env })).close()
  const config = unwrap(parseConfig(env, []))
  const columns = [
    // A sum that does not fit into 64 bits.
    [
      `committee = replace(committee, '"poolStake":"', '"poolStake":"99999999999')`,
      'the committee of an epoch cannot be read: JSON_U64 at 0.poolStake',
    ],
    [`committee = '{'`, 'the committee of an epoch cannot be read: JSON_TYPE'],
  ] as const
  for (const [change, reason] of columns) {
    await onDatabase(database.url, `UPDATE epochs SET ${change}`)
    const started = await tryOpenGateway(config, { clock: systemClock, log: silentLog })
    expect(started.ok ? '' : startMessage(started.error)).toBe(
      `the database cannot be used: ${databaseLocation(database.url)}: ${reason}; restore a backup of it`,
    )
  }
  await database.remove()
})
