import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../src/config.ts'
import { untilCommitted } from '../support/wallet.ts'
import { checkDatabase } from './cluster/check-database.ts'
import { type ClusterGateway, startClusterGateway } from './cluster/gateways.ts'
import type { Acknowledged } from './cluster/submitters.ts'
import { faultsOf } from './log-rows.ts'
import type { Subscriber } from './subscriber.ts'
import { untilCaughtUp } from './subscribers.ts'

/** The start and the final checks of runs with several gateways on one database. */

/** Calls `work` with a function that starts gateways with one key file. Ends these gateways afterwards, and then calls `stop`. */
export async function withGateways<T>(
  { name, stop }: { readonly name: string; readonly stop: () => Promise<void> },
  work: (start: (env: Environment) => Promise<ClusterGateway>) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `ledger-gateway-${name}-`))
  const gateways: ClusterGateway[] = []
  try {
    return await work(async (env) => {
      const common = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
      const gateway = await startClusterGateway({ ...common, ...env })
      gateways.push(gateway)
      return gateway
    })
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The end of a run, after the last block was acknowledged. */
export interface RunEnd {
  readonly gatewayUrl: string
  readonly databaseUrl: string
  readonly acknowledged: readonly Acknowledged[]
  readonly subscribers: readonly Subscriber[]
  /** Whether outputs of acknowledged payments may be lost; by default none is. */
  readonly losses?: 'NONE' | 'POSSIBLE'
}

/** The final counts and faults of a run. */
export interface RunResult {
  readonly rows: number
  readonly deliveries: number
  readonly faults: readonly string[]
}

/** Waits until all blocks are committed and all subscribers have received them. Stops the subscribers, and checks the database and them. */
export async function checkRun(end: RunEnd): Promise<RunResult> {
  const { gatewayUrl, databaseUrl, acknowledged, subscribers, losses } = end
  await untilCommitted(gatewayUrl, Math.max(0, ...acknowledged.map(({ slot }) => slot)) + 1)
  const { rows, faults } = await checkDatabase(databaseUrl, acknowledged, losses)
  await untilCaughtUp(subscribers, rows)
  await Promise.all(subscribers.map((subscriber) => subscriber.stop()))
  return {
    rows: rows.length,
    deliveries: subscribers.reduce((sum, { history }) => sum + history.length, 0),
    faults: [...faults, ...subscribers.flatMap((subscriber) => faultsOf(subscriber, rows))],
  }
}
