import { createRandom } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import type { ClusterGateway } from '../cluster/gateways.ts'
import { type Listener, startListener } from '../listener.ts'
import { rowsFor, seqIn, type ToldRow } from '../log-rows.ts'

/** Followers of gateways whose database fails over. */

/** The addresses of gateways. */
export function urlsOf(gateways: readonly ClusterGateway[]): readonly [string, ...string[]] {
  const [first = '', ...others] = gateways.map(({ url }) => url)
  return [first, ...others]
}

/** Each takes any transport of either gateway, always with the cursor it has. */
export function startListeners(
  urls: readonly [string, ...string[]],
  options: { readonly listeners: number; readonly seed: number },
): readonly Listener[] {
  return Array.from({ length: options.listeners }, (_, i) => {
    const random = createRandom(options.seed + i + 1)
    const classes = ['OWNED', 'MENTIONED'] as const
    return startListener({ urls, random, addresses: undefined, classes, after: undefined })
  })
}

/** Waits until every listener has come to the end of the log. */
export async function told(
  listeners: readonly Listener[],
  rows: readonly ToldRow[],
): Promise<void> {
  for (const listener of listeners) {
    const last = rowsFor(listener, rows).at(-1)?.seq ?? 0
    const what = `a listener has come to position ${last}`
    const isThere = () => (seqIn(listener.cursor()) ?? 0) >= last
    await until(isThere, { what, deadlineMs: 120_000 }).catch((failure) => {
      const { counts, cursor, faults } = listener
      throw new Error(
        `${failure} ${JSON.stringify({ cursor: cursor(), ...counts, faults: faults() })}`,
      )
    })
  }
}
