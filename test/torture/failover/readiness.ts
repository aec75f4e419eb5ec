import { until } from '../../support/until.ts'
import type { ClusterGateway } from '../cluster/gateways.ts'

/** What gateways say of themselves after a failover. */

/** Waits until every gateway takes blocks. */
export async function allWell(gateways: readonly ClusterGateway[]): Promise<void> {
  for (const { url, lines } of gateways) {
    const isWell = async () => (await readiness(url)).status === 200
    await until(isWell, { what: `${url} is well`, deadlineMs: 120_000 }).catch(async (failure) => {
      const said = lines().map(({ text }) => text.slice(0, 500))
      throw new Error(`${failure} ${JSON.stringify(await readiness(url))} ${said.slice(-8)}`)
    })
  }
}

/** What a gateway says of itself; status 0 where it does not answer. */
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
