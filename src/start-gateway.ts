import { openedUnlessAway, startMessage } from './cli/run-gateway.ts'
import { type ConfigError, configMessage, parseConfig } from './config.ts'
import { systemClock } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import { settings as known } from './settings.ts'

/** The package as a library: a gateway inside another program. */

/** Settings by the names of their variables (README, "Settings"), such as `{ PORT: 0, DATABASE_URL: 'file:./ledger.db' }`. */
export type GatewaySettings = Readonly<Record<string, string | number>>

/** What the program gives the gateway. */
export interface GatewayOptions {
  /** Takes the lines of the log, each JSON with a line feed; standard error by default. */
  readonly log?: (line: string) => void
}

/** A gateway that runs in this process. */
export interface RunningGateway {
  /** Of its root, without a slash at the end. */
  readonly url: string
  /** The name of the network that it serves. */
  readonly network: string
  /** Of its metrics; `undefined` where `METRICS_PORT` is not set. */
  readonly metricsUrl: string | undefined
  /** Closes its connections, then its database. */
  close(): Promise<void>
}

/**
 * Starts a gateway. What is not set has the default of the README; the environment of the process is not read. Rejects with an
 * `Error` whose `code` says why it did not start: `SETTING_INVALID`, `CANNOT_LISTEN`, `DATABASE_UNUSABLE` and others.
 */
export async function startGateway(
  settings: GatewaySettings = {},
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const config = parseConfig(variablesOf(settings), [])
  if (!config.ok) throw refusal(config.error)
  const clock = systemClock
  const { log: write = (line: string) => void process.stderr.write(line) } = options
  const log = createLog({ clock, write }, config.value.logLevel)
  const gateway = await openedUnlessAway(config.value, { clock, log })
  if (!gateway.ok) throw failure(gateway.error.code, startMessage(gateway.error))
  const { url, network, metricsUrl, close } = gateway.value
  return { url, network, metricsUrl, close }
}

/** An environment of these settings alone. Other processes are started by the command, so `WORKERS` is none of them. */
function variablesOf(settings: GatewaySettings): Record<string, string> {
  const { workers, ...others } = known
  const names: readonly string[] = Object.values(others).map(({ variable }) => variable)
  for (const name of Object.keys(settings)) {
    if (names.includes(name)) continue
    const reason = name === workers.variable ? 'is for the command serve alone' : 'is no setting'
    throw failure('SETTING_INVALID', `${name} ${reason}`)
  }
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
}

function refusal(errors: readonly ConfigError[]): Error {
  const [first] = errors
  return failure(first?.code ?? 'SETTING_INVALID', errors.map(configMessage).join('; '))
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
