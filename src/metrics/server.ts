import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ListenAddress, listen } from '../lib/listen.ts'
import type { Log } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'

/** Serves `/metrics` on a separate port, so that clients of the gateway cannot read the metrics. */

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

export interface MetricsCannotListen extends ListenAddress {
  readonly code: 'METRICS_CANNOT_LISTEN'
  /** Error code of the system, such as `EADDRINUSE`. */
  readonly reason: string
}

/** Formats the error as a sentence. */
export function metricsListenMessage({ host, port, reason }: MetricsCannotListen): string {
  return `cannot listen on ${host} port ${port} for metrics: ${reason}; choose another with --metrics-port`
}

export interface MetricsServerDeps {
  /** Returns the metrics as text. */
  readonly read: () => Promise<string>
  readonly contentType: string
  readonly log: Pick<Log, 'error'>
}

export async function openMetricsServer(
  { read, contentType, log }: MetricsServerDeps,
  { host, port }: ListenAddress,
): Promise<Result<MetricsServer, MetricsCannotListen>> {
  const server = createServer(async ({ method, url = '/' }, response) => {
    const [path] = url.split('?')
    if (path !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      const isPath = path === '/metrics'
      response.writeHead(isPath ? 405 : 404, isPath ? { allow: 'GET, HEAD' } : {})
      response.end(isPath ? 'method: expected GET\n' : 'path: expected /metrics\n')
      return
    }
    try {
      const text = await read()
      response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' })
      response.end(text)
    } catch (error) {
      log.error('metrics-failed', { error })
      response.writeHead(500).end('the metrics cannot be read\n')
    }
  })
  const reason = await listen(server, { host, port })
  if (reason !== undefined) return err({ code: 'METRICS_CANNOT_LISTEN', host, port, reason })
  const { port: taken } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return ok({
    url: `http://${name}:${taken}/metrics`,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}
