import type { FeedHistoryPoint, FeedUpdate, HexText } from './events.ts'
import { sha256 } from './sha256.ts'

/** Tracks the history of each address by the updates that a feed has sent. */

/** The error of an event that contradicts the events before it. */
export interface HistoryBroken {
  readonly code: 'HISTORY_BROKEN'
  readonly message: string
}

export interface AddressHistories {
  /** Records the point at which a feed starts; it must be the point that the updates of the address have reached. */
  begin(point: FeedHistoryPoint): HistoryBroken | undefined
  /** Checks and records the next update of an address. */
  extend(update: FeedUpdate): HistoryBroken | undefined
  clear(): void
}

interface Point {
  readonly ordinal: bigint
  readonly historyHash: HexText
}

/**
 * The number of addresses after which those before them are forgotten, unless they had another update: a feed of the whole ledger may have
 * millions. A map whose oldest entry was deleted for each new one would skip all deleted entries each time.
 */
const maxAddresses = 50_000

export function createAddressHistories(): AddressHistories {
  let recent = new Map<string, Point>()
  let older = new Map<string, Point>()
  const pointOf = (key: string) => recent.get(key) ?? older.get(key)

  function begin(point: FeedHistoryPoint): HistoryBroken | undefined {
    const { address, historyHash } = point
    const known = pointOf(keyOf(point))
    const ordinal = BigInt(point.ordinal)
    if (known === undefined) remember(keyOf(point), { ordinal, historyHash })
    else if (known.ordinal !== ordinal || known.historyHash !== historyHash) {
      return broken(`the history of ${address} differs from the history received before`)
    }
    return undefined
  }

  function extend(update: FeedUpdate): HistoryBroken | undefined {
    const { address, historyHash } = update
    const key = keyOf(update)
    const ordinal = BigInt(update.ordinal)
    const known = pointOf(key) ?? (ordinal === 1n ? emptyHistory : undefined)
    if (known !== undefined && ordinal !== known.ordinal + 1n) {
      return broken(`${address}: update ${ordinal} arrived after update ${known.ordinal}`)
    }
    if (known !== undefined && nextHistoryHash(known.historyHash, update) !== historyHash) {
      return broken(`${address}: the history hash of update ${ordinal} does not match`)
    }
    remember(key, { ordinal, historyHash })
    return undefined
  }

  function remember(key: string, point: Point): void {
    recent.set(key, point)
    if (recent.size < maxAddresses) return
    older = recent
    recent = new Map()
  }

  function clear(): void {
    recent.clear()
    older.clear()
  }

  return { begin, extend, clear }
}

function keyOf({ address, class: updateClass }: Pick<FeedHistoryPoint, 'address' | 'class'>) {
  return `${updateClass} ${address}`
}

/** The history of an address before its first update. */
const emptyHistory: Point = { ordinal: 0n, historyHash: `0x${'00'.repeat(32)}` }

/** SHA-256 over the previous hash, the milestone as u32 (little endian), the output id and whether it was spent. */
function nextHistoryHash(
  former: HexText,
  { milestoneIndex, outputId, isSpent }: FeedUpdate,
): HexText {
  const milestone = new Uint8Array(4)
  new DataView(milestone.buffer).setUint32(0, milestoneIndex, true)
  const link = Uint8Array.of(
    ...bytesOf(former),
    ...milestone,
    ...bytesOf(outputId),
    isSpent ? 1 : 0,
  )
  const hash = sha256(link)
  return `0x${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

// Not every browser has a function that decodes hexadecimal text.
function bytesOf(text: HexText): number[] {
  return (text.slice(2).match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16))
}

/** Creates a `HistoryBroken` error. */
export function broken(message: string): HistoryBroken {
  return { code: 'HISTORY_BROKEN', message }
}
