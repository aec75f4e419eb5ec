import { decodeCursor } from '../../feed/cursor.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import { updateClasses } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import type { LogPosition, UpdateClass } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type LedgerUpdateView, viewOf } from './list-ledger-updates.ts'

/** The history of an address at any of its ordinals: two histories are equal if their history hashes are equal. */

/** The newest point of the history of an address and class up to a position. */
export interface HistoryPoint {
  readonly address: Hex
  readonly class: UpdateClass
  /** Ordinal of the last update up to the position; 0 before the first update. */
  readonly ordinal: number
  /** The history hash after that update. */
  readonly historyHash: Hex
}

/** Reads the update of an address and class with an ordinal; `undefined` if it does not exist or was pruned. About 20 single-row reads. */
export async function updateAt(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  { address, class: updateClass, ordinal }: Pick<HistoryPoint, 'address' | 'class' | 'ordinal'>,
): Promise<LedgerUpdateView | undefined> {
  const { read } = store
  const tip = await read.logTip()
  if (ordinal < 1 || ordinal > (await read.addressTip(address, updateClass)).ordinal)
    return undefined
  const firstBehind = async (after: number) => {
    const range = { address, classes: [updateClass], after, before: tip.seq + 1, limit: 1 } as const
    const [row] = await read.updates({ ...range, order: 'ascending' })
    return row
  }
  let low = tip.prunedSeq
  let high = tip.seq
  // Ordinals rise with positions: the row is after `low`, and at or before `high`.
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await firstBehind(middle)
    if (row?.ordinal === ordinal) return viewOf(row, tip, parameters)
    if (row !== undefined && row.ordinal < ordinal) low = row.seq
    else high = middle
  }
  return undefined
}

/** Reads the update at a cursor; `undefined` if there is none, it was pruned, or this history has another update there. */
export async function updateAtCursor(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  text: string,
): Promise<LedgerUpdateView | undefined> {
  const cursor = decodeCursor(text, 'id')
  if (!cursor.ok) return undefined
  const { seq } = cursor.value
  const tip = await store.read.logTip()
  const range = { after: seq - 1, before: seq + 1, limit: 1, order: 'ascending' } as const
  const [row] = await store.read.updates({ ...range, classes: updateClasses })
  const update = row && viewOf(row, tip, parameters)
  return update?.cursor === text ? update : undefined
}

/**
 * Reads the history point of each address and class of a filter at a position of the log, with at most two reads each. Returns none if
 * updates after the position have been pruned: the newest pruned updates may then lie after it. Returns none either if the log was replaced
 * by one without the position, with which the feed ends.
 */
export async function historyAt(
  { store, feed: { tail } }: Pick<Services, 'store' | 'feed'>,
  { addresses = [], classes }: UpdateFilter,
  { seq, branch }: LogPosition,
): Promise<readonly HistoryPoint[]> {
  const pairs = addresses.flatMap((address) => classes.map((one) => ({ address, class: one })))
  const points = await Promise.all(pairs.map((pair) => pointAt(store.read, pair, seq)))
  if (points.length === 0) return []
  const now = await store.read.logTip()
  if (now.prunedSeq > seq) return []
  const tip = tail.tip()
  // The log may have been replaced without the notice of the tail.
  if (now.commitmentId !== tip.commitmentId) await tail.freshTip(tip.seq + 1)
  return (await tail.branchAt(seq)) === branch ? points : []
}

async function pointAt(
  read: Services['store']['read'],
  pair: Pick<HistoryPoint, 'address' | 'class'>,
  position: number,
): Promise<HistoryPoint> {
  const { address, class: updateClass } = pair
  const until = { after: 0, before: position + 1, limit: 1, order: 'descending' } as const
  const [last] = await read.updates({ address, classes: [updateClass], ...until })
  const { ordinal, historyHash } = last ?? (await read.prunedTip(address, updateClass)) ?? noUpdate
  return { ...pair, ordinal, historyHash }
}

const noUpdate = { ordinal: 0, historyHash: `0x${'00'.repeat(32)}` } as const
