import { type AddressInfo, createServer } from 'node:net'
import type { ListenError } from '../api/http/http.ts'
import type { Config } from '../config.ts'
import { type ListenAddress, listen } from '../lib/listen.ts'
import { type MetricsCannotListen, metricsListenMessage } from '../metrics/server.ts'

/** Checks that the gateway can listen on its addresses before it writes a database or a key. */

/** Returns why the gateway cannot listen; `undefined` if it can. Port 0 is tried too: the host may belong to another machine. */
export async function addressInUse({
  host,
  port,
  metrics,
}: Pick<Config, 'host' | 'port' | 'metrics'>): Promise<
  ListenError | MetricsCannotListen | undefined
> {
  const reason = await failureAt({ host, port })
  if (reason !== undefined) return { code: 'CANNOT_LISTEN', host, port, reason }
  const metricsReason = metrics && (await failureAt(metrics))
  if (metrics === undefined || metricsReason === undefined) return undefined
  return { code: 'METRICS_CANNOT_LISTEN', ...metrics, reason: metricsReason }
}

/** Resolves to the port of an address on which this process can listen; to a free one if it is 0. */
export async function actualPort({ host, port }: ListenAddress): Promise<number> {
  if (port > 0) return port
  const server = createServer()
  await listen(server, { host, port })
  const { port: free } = server.address() as AddressInfo
  await server[Symbol.asyncDispose]()
  return free
}

/** The error message. */
export function listenMessage(error: ListenError | MetricsCannotListen): string {
  if (error.code === 'METRICS_CANNOT_LISTEN') return metricsListenMessage(error)
  const { host, port, reason } = error
  return reason === 'EADDRINUSE'
    ? `port ${port} of ${host} is in use; choose another with --port`
    : `cannot listen on ${host} port ${port}: ${reason}`
}

/** Listens and closes again; resolves to the system error code of a failure, such as `EADDRINUSE`. */
async function failureAt({ host, port }: ListenAddress): Promise<string | undefined> {
  const server = createServer()
  const reason = await listen(server, { host, port })
  await server[Symbol.asyncDispose]()
  return reason
}
