import { expect, test } from 'vitest'
import { restore } from '../../src/cli/restore.ts'
import { decodeCursor } from '../../src/feed/cursor.ts'
import { createWake } from '../../src/feed/wake.ts'
import { onDatabase } from '../support/databases.ts'
import { restJson } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

test('a gateway that is healthy again opens feeds in the accepted log', async () => {
  // Without notifications and ticks its feeds do not find the end of the log by themselves.
  const wake = { ...createWake(), notify: () => {} }
  const gateway = await startGateway({ deps: { wake, feed: { tickMs: 3_600_000 } } })
  const { url, databaseUrl } = gateway
  try {
    await untilHealth(url)
    const former = await logOfFeed(url)
    await onDatabase(databaseUrl, 'UPDATE published_tip SET "rewoundFrom" = slot')
    await untilHealth(url, 503)
    await runCommand(restore, ['--accept'], { env: { DATABASE_URL: databaseUrl } })
    await untilHealth(url)
    expect(await logOfFeed(url)).not.toBe(former)
  } finally {
    await gateway.close()
  }
})

/** Returns the id of the log in which a new feed starts. */
async function logOfFeed(url: string): Promise<string> {
  const { cursor } = await restJson(`${url}/feed/updates?class=OWNED&limit=1`)
  const decoded = decodeCursor(cursor, 'cursor')
  if (!decoded.ok) throw new Error(decoded.error.code)
  return decoded.value.logId
}
