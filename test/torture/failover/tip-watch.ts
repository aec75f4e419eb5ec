import { setTimeout as delay } from 'node:timers/promises'
import { withClient } from '../cluster/lease.ts'

/**
 * Requests the newest slot from each gateway repeatedly. No response may have an older slot than the one before, or a slot that is not in
 * the log.
 */
export interface TipWatch {
  readonly counts: {
    /** The number of responses with a slot. */
    read: number
    /** The number of requests that got an error or no response. */
    unread: number
  }
  stop(): Promise<void>
  /** Stops the requests and returns the faults, by comparison with the commitments of a database. */
  check(url: string): Promise<readonly string[]>
}

/** Starts the requests. */
export function startTipWatch(urls: readonly string[]): TipWatch {
  const counts = { read: 0, unread: 0 }
  const faults: string[] = []
  const returned = new Map<number, Set<string>>()
  let isStopped = false
  const running = Promise.all(urls.map(watch))

  async function watch(url: string): Promise<void> {
    let newest = 0
    while (!isStopped) {
      const tip = await tipOf(url)
      if (tip === undefined) counts.unread++
      else {
        counts.read++
        if (tip.index < newest) faults.push(`${url} returned slot ${newest} and then ${tip.index}`)
        newest = tip.index
        returned.set(newest, (returned.get(newest) ?? new Set()).add(tip.commitmentId))
      }
      await delay(50)
    }
  }

  async function stop(): Promise<void> {
    isStopped = true
    await running
  }

  async function check(url: string): Promise<readonly string[]> {
    await stop()
    const committed = await withClient(url, async (client) => {
      const { rows } = await client.query<{ slot: string; id: Buffer }>(
        'SELECT slot, id FROM commitments',
      )
      return new Map(rows.map(({ slot, id }) => [Number(slot), `0x${id.toString('hex')}`]))
    })
    const unknown = [...returned].flatMap(([slot, ids]) =>
      [...ids]
        .filter((id) => committed.get(slot) !== id)
        .map(
          (id) => `slot ${slot} was returned with commitment ${id}, but has ${committed.get(slot)}`,
        ),
    )
    return [...faults, ...unknown]
  }

  return { counts, stop, check }
}

async function tipOf(url: string) {
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ milestone { index commitmentId } }' }),
      signal: AbortSignal.timeout(5_000),
    })
    const { data } = await response.json()
    const tip: { readonly index: number; readonly commitmentId: string } | null = data.milestone
    return tip ?? undefined
  } catch {
    return undefined
  }
}
