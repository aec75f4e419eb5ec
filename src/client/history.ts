import type { FeedEvent, FeedHistoryPoint, FeedUpdate, HexText } from './events.ts'

/** Checks the events of a feed: no update may be missing, come twice, or differ from an earlier one. */

/** An event does not follow from the events before. */
export interface HistoryBroken {
  readonly code: 'HISTORY_BROKEN'
  readonly message: string
}

export interface History {
  /** Checks the next event and remembers it; returns what is wrong. */
  check(event: FeedEvent): Promise<HistoryBroken | undefined>
  /** The cursor to resume after; `undefined` if there is none yet. */
  cursor(): string | undefined
  /** Whether a complete snapshot is still to come. */
  wantsSnapshot(): boolean
}

export interface HistoryStart {
  readonly after: string | undefined
  readonly snapshot: boolean
}

/** The most addresses whose last update is remembered; a feed of the whole ledger may have more. */
const rememberedAddresses = 100_000

export function createHistory({ after, snapshot }: HistoryStart): History {
  const points = new Map<string, { ordinal: bigint; historyHash: HexText }>()
  let cursor = after
  let awaitsSnapshot = snapshot

  async function check(event: FeedEvent): Promise<HistoryBroken | undefined> {
    switch (event.__typename) {
      case 'FeedOpened':
        return checkOpened(event)
      case 'FeedSnapshot':
        if (event.isLast) {
          awaitsSnapshot = false
          cursor = event.cursor
        }
        return undefined
      case 'LedgerUpdateBatch':
        return await checkStep(event, event.updates)
      case 'FeedProgress':
        return await checkStep(event, [])
      case 'FeedNotice':
      case 'FeedReset':
        return undefined
    }
  }

  function checkOpened({
    cursor: start,
    start: startPoints,
  }: OpenedEvent): HistoryBroken | undefined {
    if (cursor !== undefined && start !== cursor) {
      return broken(`asked to begin at ${cursor}, the feed began at ${start}`)
    }
    // Without a cursor to resume after, or with half a snapshot, everything begins again.
    if (cursor === undefined || awaitsSnapshot) points.clear()
    if (!awaitsSnapshot) cursor = start
    for (const point of startPoints) {
      const known = points.get(keyOf(point))
      const ordinal = BigInt(point.ordinal)
      const { historyHash } = point
      if (known === undefined) remember(keyOf(point), { ordinal, historyHash })
      else if (known.ordinal !== ordinal || known.historyHash !== historyHash) {
        return broken(`the history of ${point.address} differs from the one before`)
      }
    }
    return undefined
  }

  async function checkStep(
    step: { readonly previousCursor: string; readonly cursor: string },
    updates: readonly FeedUpdate[],
  ): Promise<HistoryBroken | undefined> {
    if (step.previousCursor !== cursor) {
      return broken(`an event after ${step.previousCursor} came where ${cursor} was reached`)
    }
    for (const update of updates) {
      const fault = await checkUpdate(update)
      if (fault !== undefined) return fault
    }
    cursor = step.cursor
    return undefined
  }

  async function checkUpdate(update: FeedUpdate): Promise<HistoryBroken | undefined> {
    const key = keyOf(update)
    const ordinal = BigInt(update.ordinal)
    const known =
      points.get(key) ?? (ordinal === 1n ? { ordinal: 0n, historyHash: noHistory } : undefined)
    if (known !== undefined && ordinal !== known.ordinal + 1n) {
      return broken(`${update.address}: update ${ordinal} came after ${known.ordinal}`)
    }
    if (
      known !== undefined &&
      (await nextHistoryHash(known.historyHash, update)) !== update.historyHash
    ) {
      return broken(`${update.address}: the history hash of update ${ordinal} does not follow`)
    }
    remember(key, { ordinal, historyHash: update.historyHash })
    return undefined
  }

  function remember(key: string, point: { ordinal: bigint; historyHash: HexText }): void {
    points.delete(key)
    points.set(key, point)
    if (points.size <= rememberedAddresses) return
    for (const oldest of points.keys()) {
      points.delete(oldest)
      break
    }
  }

  return { check, cursor: () => cursor, wantsSnapshot: () => awaitsSnapshot }
}

type OpenedEvent = Extract<FeedEvent, { readonly __typename: 'FeedOpened' }>

function keyOf({ address, class: updateClass }: Pick<FeedHistoryPoint, 'address' | 'class'>) {
  return `${updateClass} ${address}`
}

const noHistory: HexText = `0x${'00'.repeat(32)}`

/** SHA-256 over the former value, the milestone as u32 (little endian), the output id and whether it was spent. */
async function nextHistoryHash(
  former: HexText,
  { milestoneIndex, outputId, isSpent }: FeedUpdate,
): Promise<HexText> {
  const milestone = new Uint8Array(4)
  new DataView(milestone.buffer).setUint32(0, milestoneIndex, true)
  const link = Uint8Array.of(
    ...bytesOf(former),
    ...milestone,
    ...bytesOf(outputId),
    isSpent ? 1 : 0,
  )
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', link))
  return `0x${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

// Digit by digit, because not every browser has a function for it.
function bytesOf(text: HexText): number[] {
  return (text.slice(2).match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16))
}

function broken(message: string): HistoryBroken {
  return { code: 'HISTORY_BROKEN', message }
}
