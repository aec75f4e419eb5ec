import { createServer } from 'node:net'
import type { HttpAddress, ListenError } from '../api/http.ts'
import type { Config } from '../config.ts'
import { type MetricsCannotListen, metricsListenMessage } from '../metrics/server.ts'

/** Whether a gateway can listen where it shall: found before it writes a database or a key. */

/** Why it cannot; `undefined` where it can. Port 0 is tried too, for its host may be of another machine. */
export async function addressTaken({
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

/** The sentence for people. */
export function listenMessage(error: ListenError | MetricsCannotListen): string {
  if (error.code === 'METRICS_CANNOT_LISTEN') return metricsListenMessage(error)
  const { host, port, reason } = error
  return reason === 'EADDRINUSE'
    ? `port ${port} of ${host} is in use; choose another with --port`
    : `cannot listen on ${host} port ${port}: ${reason}`
}

/** Listens and lets go again; the system's name of the failure, such as `EADDRINUSE`. */
function failureAt(address: HttpAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(address, () => server.close(() => resolve(undefined)))
  })
}
