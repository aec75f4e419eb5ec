import { startMessage, tryOpenGateway } from './cli/run-gateway.ts'
import { type ConfigError, configMessage, parseConfig } from './config.ts'
import { systemClock } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import { settings as known } from './settings.ts'

/** The library interface of the package: runs a gateway inside another program. */

/** Settings by their variable names (docs/settings.md), such as `{ PORT: 0, DATABASE_URL: 'file:./ledger.db' }`. */
export type GatewaySettings = Readonly<Record<string, string | number>>

export interface GatewayOptions {
  /** Receives each line of the log, as JSON with a trailing line feed; by default it is written to standard error. */
  readonly log?: (line: string) => void
}

/** A gateway that runs in this process. */
export interface RunningGateway {
  /** URL of the root, without a trailing slash. */
  readonly url: string
  /** Name of the network that the gateway serves. */
  readonly network: string
  /** URL of the metrics; `undefined` if `METRICS_PORT` is not set. */
  readonly metricsUrl: string | undefined
  /** Closes all connections, then the database. */
  close(): Promise<void>
}

/**
 * Starts a gateway. A setting that is left out has its default; the environment of the process is not read.
 * Rejects with an `Error` whose `code` is the reason, such as `SETTING_INVALID`, `CANNOT_LISTEN` or `DATABASE_UNUSABLE`.
 */
export async function startGateway(
  settings: GatewaySettings = {},
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const config = parseConfig(variablesOf(settings), [])
  if (!config.ok) throw invalidSettings(config.error)
  const clock = systemClock
  const { log: write = (line: string) => void process.stderr.write(line) } = options
  const log = createLog({ clock, write }, config.value.logLevel)
  const gateway = await tryOpenGateway(config.value, { clock, log })
  if (!gateway.ok) throw failure(gateway.error.code, startMessage(gateway.error))
  const { url, network, metricsUrl, close } = gateway.value
  return { url, network, metricsUrl, close }
}

/** An environment that contains only these settings. `WORKERS` is not accepted: only the command starts other processes. */
function variablesOf(settings: GatewaySettings): Record<string, string> {
  const { workers, ...others } = known
  const names: readonly string[] = Object.values(others).map(({ variable }) => variable)
  for (const name of Object.keys(settings)) {
    if (names.includes(name)) continue
    const reason =
      name === workers.variable ? 'is available only in the command serve' : 'is not a setting'
    throw failure('SETTING_INVALID', `${name} ${reason}`)
  }
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
}

function invalidSettings(errors: readonly ConfigError[]): Error {
  const [first] = errors
  return failure(first?.code ?? 'SETTING_INVALID', errors.map(configMessage).join('; '))
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
