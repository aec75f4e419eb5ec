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

/** The processes and clients of a run. */
export interface Run {
  /** Starts a gateway with the key file of the run. */
  startGateway(env: Environment): Promise<ClusterGateway>
  /** Returns the client, which is stopped at the end of the run, also if the run fails. */
  stopAtEnd<T extends Client>(client: T): T
}

interface Client {
  stop(): Promise<void>
}

/** Calls `work`. Afterwards stops the clients, ends the gateways, and then calls `stop`. */
export async function withGateways<T>(
  { name, stop }: { readonly name: string; readonly stop: () => Promise<void> },
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `ledger-gateway-${name}-`))
  const gateways: ClusterGateway[] = []
  const clients: Client[] = []
  try {
    return await work({
      startGateway: async (env) => {
        const common = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
        const gateway = await startClusterGateway({ ...common, ...env })
        gateways.push(gateway)
        return gateway
      },
      stopAtEnd: (client) => {
        clients.push(client)
        return client
      },
    })
  } finally {
    for (const gateway of gateways) gateway.wake()
    // Clients repeat what fails, so without gateways they would never stop.
    await Promise.all(clients.map((client) => client.stop()))
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
