import { parseConfig } from '../../src/config.ts'
import { createWake } from '../../src/feed/wake.ts'
import { openGateway } from '../../src/gateway.ts'
import { type MachineClock, systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import type { GatewayCommand, GatewayReport } from './gateway-process.ts'

/** The gateway under torture: the real one, in a process of its own, with a clock and wake-ups that can be tampered with. */

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
const committed = createWake()
// Where wake-ups are lost, a commit is found by the tick or not at all.
const isLost = process.env.TORTURE_LOSE_WAKE_UPS === '1'
const wake = isLost ? { ...committed, notify: () => {} } : committed
const gateway = await openGateway(config.value, { clock, log, wake })
if (!gateway.ok) throw new Error(JSON.stringify(gateway.error))
const report: GatewayReport = { url: gateway.value.url }
process.send?.(report)

process.once('SIGTERM', () => {
  void gateway.value.close().then(() => process.exit(0))
})
