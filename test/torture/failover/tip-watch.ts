import { setTimeout as delay } from 'node:timers/promises'
import { withClient } from '../cluster/lease.ts'

/** Clients that ask each gateway for the newest slot again and again: no answer may go back, or name a slot that is not in the log. */
export interface TipWatch {
  readonly counts: {
    /** Answers with a slot. */
    read: number
    /** Questions that were answered with an error or not at all. */
    unread: number
  }
  /** Ends it, and gives what was wrong, by the commitments that a database has in the end. */
  judge(url: string): Promise<readonly string[]>
}

/** Begins. */
export function startTipWatch(urls: readonly string[]): TipWatch {
  const counts = { read: 0, unread: 0 }
  const faults: string[] = []
  const shown = new Map<number, Set<string>>()
  let isOver = false
  const running = Promise.all(urls.map(watch))

  async function watch(url: string): Promise<void> {
    let newest = 0
    while (!isOver) {
      const tip = await tipOf(url)
      if (tip === undefined) counts.unread++
      else {
        counts.read++
        if (tip.index < newest) faults.push(`${url} showed slot ${newest} and then ${tip.index}`)
        newest = tip.index
        shown.set(newest, (shown.get(newest) ?? new Set()).add(tip.commitmentId))
      }
      await delay(50)
    }
  }

  async function judge(url: string): Promise<readonly string[]> {
    isOver = true
    await running
    const committed = await withClient(url, async (client) => {
      const { rows } = await client.query<{ slot: string; id: Buffer }>(
        'SELECT slot, id FROM commitments',
      )
      return new Map(rows.map(({ slot, id }) => [Number(slot), `0x${id.toString('hex')}`]))
    })
    const strangers = [...shown].flatMap(([slot, ids]) =>
      [...ids]
        .filter((id) => committed.get(slot) !== id)
        .map((id) => `slot ${slot} was shown as ${id}, and is ${committed.get(slot)}`),
    )
    return [...faults, ...strangers]
  }

  return { counts, judge }
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
