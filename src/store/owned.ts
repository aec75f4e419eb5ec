import { LRUCache } from 'lru-cache'
import { passTurn } from '../lib/turns.ts'
import type { StoreReader } from './contract.ts'
import type { OwnedPosition, OwnedQuery, OwnedUpdate } from './rows.ts'
import { type OwnedRow, ownedRead } from './sql/owned.ts'
import type { Reading } from './sql/reading.ts'

/** What an address owned, page by page; a reader of several pages continues at the end of the last one. */

/** How many places are remembered, some 500 bytes each. */
const mostPlaces = 4_096

/** Reads such pages. */
export function createOwnedReader(reading: Reading): StoreReader['owned'] {
  const ownedRows = ownedRead(reading)
  /**
   * Positions of rows that pages ended with or were searched for. A page begins at one of them when its cursor is the
   * last one's, or is asked for again; and a cursor names a place, not a position.
   */
  const seqByPlace = new LRUCache<string, number>({ max: mostPlaces })

  async function readRemembered(question: OwnedQuery): Promise<readonly OwnedRow[] | undefined> {
    const { address, from } = question
    if (from === undefined || !('outputId' in from)) return undefined
    const key = placeKey(address, from)
    const seq = seqByPlace.get(key)
    if (seq === undefined) return undefined
    const rows = await ownedRows({ ...question, from: { seq } })
    // It was this very row. When it is another now, the log was pruned to here, or replaced.
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

  async function search(question: OwnedQuery): Promise<readonly OwnedRow[] | undefined> {
    const rows = await ownedRows(question)
    if (question.from !== undefined) remember(question.address, rows?.[0])
    return rows
  }

  return async (question) => {
    // As for every read of the log: others are to have their turn.
    await passTurn()
    const rows = (await readRemembered(question)) ?? (await search(question))
    remember(question.address, rows?.[question.limit - 1])
    return rows
  }
}

function placeKey(
  address: OwnedQuery['address'],
  { slot, outputId, isSpent }: Extract<OwnedPosition, Pick<OwnedUpdate, 'outputId'>>,
): string {
  return `${address} ${slot} ${outputId} ${isSpent}`
}
