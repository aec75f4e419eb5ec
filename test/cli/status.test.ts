import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { runCommand } from '../support/run-command.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilCommitted, untilHealth } from '../support/wallet.ts'

describe('status', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await untilHealth(gateway.url)
    await untilCommitted(gateway.url, 1)
  })
  afterAll(() => gateway.close())

  test('prints a table on a terminal', async () => {
    const { code, stdout, stderr } = await runCommand(status, [gateway.url], { isTerminal: true })
    expect([code, stderr]).toEqual([0, ''])
    const rows = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/) as [string, string]),
    )
    expect(rows.get('health')).toBe('healthy')
    expect(rows.get('role')).toMatch(/^(writer|standby), term \d+$/)
    expect(rows.get('mode')).toBe('embedded')
    expect(rows.get('committed slot')).toMatch(/^\d+, which ended \d/)
    expect(Number(rows.get('addresses'))).toBeGreaterThan(5)
  })

  test('prints JSON to a pipe', async () => {
    const { code, stdout } = await runCommand(status, [`${gateway.url}/`])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      url: gateway.url,
      health: { isHealthy: true, term: expect.any(Number) },
      ledger: { mode: 'EMBEDDED', accounts: expect.anything() },
    })
  })

  test('fails without a gateway, and rejects wrong arguments', async () => {
    expect(await runCommand(status, ['http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ledger-gateway status: .*no server is reachable/),
    })
    for (const words of [['here'], ['http://a', 'http://b'], ['--url', 'http://a']]) {
      expect(await runCommand(status, words)).toMatchObject({ code: 2 })
    }
  })
})

test('status of an unhealthy gateway prints the reason and exits with 1', async () => {
  const now = systemClock.nowNs()
  const clock = createSettableClock(now)
  const gateway = await startGateway({ clock })
  await untilHealth(gateway.url)
  clock.set(now - 3_600n * 1_000_000_000n)
  await untilHealth(gateway.url, 503)
  const { code, stdout } = await runCommand(status, [gateway.url], { isTerminal: true })
  expect([code, stdout]).toEqual([1, expect.stringContaining('not healthy: clock behind')])
  await gateway.close()
})
