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
   * Log positions of rows that ended a page or were searched for. A cursor names a slot and an output, not a log position, so this map
   * saves the search if a page begins at the end of the previous page, or is requested again.
   */
  const seqByPlace = new LRUCache<string, number>({ max: maxPositions })

  async function readRemembered(query: OwnedQuery): Promise<readonly OwnedRow[] | undefined> {
    const { address, from } = query
    if (from === undefined || !('outputId' in from)) return undefined
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

  async function search(query: OwnedQuery): Promise<readonly OwnedRow[] | undefined> {
    const rows = await ownedRows(query)
    if (query.from !== undefined) remember(query.address, rows?.[0])
    return rows
  }

  return async (query) => {
    // Yields to other requests before every read of the log.
    await passTurn()
    const rows = (await readRemembered(query)) ?? (await search(query))
    remember(query.address, rows?.[query.limit - 1])
    return rows
  }
}

function placeKey(
  address: OwnedQuery['address'],
  { slot, outputId, isSpent }: Extract<OwnedPosition, Pick<OwnedUpdate, 'outputId'>>,
): string {
  return `${address} ${slot} ${outputId} ${isSpent}`
}
