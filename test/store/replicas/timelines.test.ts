import { expect, test } from 'vitest'
import { lsnText } from '../../../src/store/sql/postgresql/position.ts'
import { openHaltingProxy } from '../../support/halting-proxy.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { ask, startStandby } from '../../support/standby.ts'
import { startGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import { untilHealth } from '../../support/wallet.ts'

/** Positions of real servers, of which one takes the place of another. */

const settings = ['fsync=off']

test('a replica that has what a new primary never received is behind it, and nowhere else', async () => {
  const primary = await startPostgresql()
  const between = await openHaltingProxy(Number(new URL(primary.url).port))
  const gateway = await startGateway({ env: { DATABASE_URL: primary.url } })
  await untilHealth(gateway.url)
  await until(async () => (await ask(primary.url, 'SELECT timeline FROM writer')) === '1')
  await gateway.close()
  const standby = await startStandby(primary.url, { through: between.port, settings })
  const replica = await startStandby(primary.url, { settings })
  try {
    await until(async () => (await position(replica.url)) === (await position(primary.url)))
    await until(async () => (await position(standby.url)) === (await position(primary.url)))
    between.halt()
    const bytes = "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))"
    await ask(primary.url, bytes)
    const ahead = async () => (await position(replica.url)) - (await position(standby.url))
    await until(async () => (await ahead()) > 1_000_000n)
    await primary.halt('crash')
    await standby.promote()
    expect(await bytesOf(replica.url)).toBeGreaterThan(await bytesOf(standby.url))
    expect(await position(replica.url)).toBeLessThan(await position(standby.url))
  } finally {
    await Promise.all([replica.stop(), standby.stop()])
    await between.close()
    await primary.stop()
  }
})

async function position(url: string): Promise<bigint> {
  return BigInt(await ask(url, lsnText))
}

async function bytesOf(url: string): Promise<bigint> {
  return (await position(url)) & (2n ** 64n - 1n)
}
