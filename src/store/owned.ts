import { LRUCache } from 'lru-cache'
import { passTurn } from '../lib/turns.ts'
import type { StoreReader } from './contract.ts'
import type { OwnedPosition, OwnedQuery, OwnedUpdate } from './rows.ts'
import { type OwnedRow, ownedRead } from './sql/owned.ts'
import type { Reading } from './sql/reading.ts'

/** Pages of the outputs that an address owned. A client that reads several pages continues at the end of its last page. */

/** Number of positions that are remembered, with some 500 bytes each. */
const maxPositions = 4_096

/** Creates the read of these pages. */
export function createOwnedReader(reading: Reading): StoreReader['owned'] {
  const ownedRows = ownedRead(reading)
  /**
   * Log positions of rows inside of large milestones that ended a page or were searched for. A cursor names a slot and an output, not a
   * log position, so this map saves the search if a page begins at the end of the previous page, or is requested again. In a small
   * milestone the statement itself finds the row, which costs less than to remember the end of each page.
   */
  const seqByPlace = new LRUCache<string, number>({ max: maxPositions })

  async function readRemembered(query: OwnedQuery): Promise<readonly OwnedRow[] | undefined> {
    const { address, from } = query
    if (seqByPlace.size === 0 || from === undefined || !('outputId' in from)) return undefined
    const key = placeKey(address, from)
    const seq = seqByPlace.get(key)
    if (seq === undefined) return undefined
    const rows = await ownedRows({ ...query, from: { seq } })
    // If another row is at this log position now, the log was pruned up to here, or replaced.
    const [row] = rows ?? []
    if (row !== undefined && placeKey(address, { ...row, slot: row.milestoneIndex }) === key) {
      return rows
    }
    seqByPlace.delete(key)
    return undefined
  }

  function remember(address: OwnedQuery['address'], row: OwnedRow | undefined): void {
    if (row === undefined) return
    seqByPlace.set(placeKey(address, { ...row, slot: row.milestoneIndex }), row.seq)
  }

  return async (query) => {
    const { address, from, limit } = query
    // Yields to other requests before every read of the log.
    await passTurn()
    const rows = (await readRemembered(query)) ?? (await ownedRows(query))
    const distance = Math.min(limit, minRows) - 1
    const isInLarge = (at: number, other: number) =>
      rows?.[at]?.milestoneIndex === rows?.[other]?.milestoneIndex
    // A caller that names a position has searched for it.
    const isSearched = from !== undefined && ('seq' in from || isInLarge(0, distance))
    if (isSearched) remember(address, rows?.[0])
    if (isInLarge(limit - 1, limit - 1 - distance)) remember(address, rows?.[limit - 1])
    return rows
  }
}

/** A milestone with this many rows of an address is large, or one with all rows of a shorter page. */
const minRows = 20

function placeKey(
  address: OwnedQuery['address'],
  { slot, outputId, isSpent }: Extract<OwnedPosition, Pick<OwnedUpdate, 'outputId'>>,
): string {
  return `${address} ${slot} ${outputId} ${isSpent}`
}
