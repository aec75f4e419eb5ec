import { until } from '../../support/until.ts'
import type { ClusterGateway } from '../cluster/gateways.ts'

/** The readiness of gateways after a failover. */

/** The errors that gateways log during a failover: the database is unavailable, or read-only. */
export const expectedErrors: readonly string[] = ['database-away', 'database-not-writable']

/** Waits until each gateway reports that it is ready. */
export async function untilReady(gateways: readonly ClusterGateway[]): Promise<void> {
  for (const { url, lines } of gateways) {
    const isReady = async () => (await readiness(url)).status === 200
    await until(isReady, { what: `${url} is ready`, deadlineMs: 120_000 }).catch(
      async (failure) => {
        const logged = lines().map(({ text }) => text.slice(0, 500))
        throw new Error(`${failure} ${JSON.stringify(await readiness(url))} ${logged.slice(-8)}`)
      },
    )
  }
}

/** Requests the readiness of a gateway. The status is 0 if it does not respond. */
export async function readiness(url: string): Promise<{ status: number; reason?: string }> {
  try {
    const signal = AbortSignal.timeout(5_000)
    const response = await fetch(`${url}/health/ready`, { signal })
    const { reason } = await response.json()
    return { status: response.status, reason }
  } catch {
    return { status: 0 }
  }
}
