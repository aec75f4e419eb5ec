import { parseConfig } from '../../src/config.ts'
import { createWake } from '../../src/feed/wake.ts'
import { openGateway } from '../../src/gateway.ts'
import { type MachineClock, systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import type { GatewayCommand, GatewayReport } from './gateway-process.ts'

/** Runs the gateway in a process of its own, with a clock that can be moved and wake-ups that can be suppressed. */

let offsetMs = Number(process.env.TORTURE_OFFSET_MS ?? 0)
const clock: MachineClock = {
  ...systemClock,
  nowNs: () => BigInt(Date.now() + offsetMs) * 1_000_000n,
}
const log = createLog({ clock, write: (line) => process.stderr.write(line) }, 'warn')

process.on('message', (command: GatewayCommand) => {
  offsetMs += command.jumpMs
})

const config = parseConfig(process.env, [])
if (!config.ok) throw new Error(JSON.stringify(config.error))
const realWake = createWake()
// Without wake-ups only the periodic tick finds a commit.
const isLost = process.env.TORTURE_LOSE_WAKE_UPS === '1'
const wake = isLost ? { ...realWake, notify: () => {} } : realWake
const gateway = await openGateway(config.value, { clock, log, wake })
if (!gateway.ok) throw new Error(JSON.stringify(gateway.error))
const report: GatewayReport = { url: gateway.value.url }
process.send?.(report)

process.once('SIGTERM', () => {
  void gateway.value.close().then(() => process.exit(0))
})
