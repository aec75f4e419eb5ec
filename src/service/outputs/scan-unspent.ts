import { passTurn } from '../../lib/turns.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { OutputPosition, UnspentFilter, UnspentQuery } from '../../store/view-contract.ts'
import type { Services } from '../services.ts'

/**
 * Pages of unspent outputs by filters that few of them may fulfil. A page that is rare in a large ledger is far apart, and on SQLite the
 * event loop waits for a statement: such a page is read piece by piece, others have their turns between the pieces, and each of
 * them is paid for and ends with its request.
 */

type Read = Pick<Services['store']['read'], 'unspentOutputs' | 'unspentStop'>

/** Rows of a page; where they are fewer than were asked for and there may be more, the place to go on after. */
export interface ScannedRows {
  readonly rows: readonly OutputRow[]
  readonly stoppedAt?: OutputPosition | undefined
}

/** Reads a page; it stops after so many pieces. */
export async function scanUnspent(
  read: Read,
  question: UnspentQuery,
  mostPieces: number = Number.POSITIVE_INFINITY,
): Promise<ScannedRows> {
  const { filter, limit, order } = question
  if (!mayReject(filter)) return { rows: await read.unspentOutputs(question) }
  const rows: OutputRow[] = []
  let { after, before } = question
  for (let piece = 1; ; piece++) {
    const part = { ...question, after, before }
    const { at } = await read.unspentStop(part)
    const found = { ...part, through: at, limit: limit - rows.length }
    rows.push(...(await read.unspentOutputs(found)))
    if (at === undefined || rows.length >= limit) return { rows }
    if (piece === mostPieces) return { rows, stoppedAt: at }
    if (order === 'descending') before = at
    else after = at
    await passTurn()
  }
}

/** Whether a scan may walk over outputs that do not fulfil the filter; those of one kind or with one key alone all do. */
function mayReject({ heldBy, anyOf, keys = [], kinds, ...filter }: UnspentFilter): boolean {
  const { hasTimelock, timelocked, hasExpiration, expires, hasReturn, hasToken } = filter
  const given = [hasTimelock, timelocked, hasExpiration, expires, hasReturn, hasToken]
  const byKey = heldBy !== undefined || anyOf !== undefined || keys.length > 0
  return (
    given.some((one) => one !== undefined) ||
    keys.length > 1 ||
    (keys.length > 0 && (heldBy !== undefined || anyOf !== undefined)) ||
    (byKey && kinds !== undefined)
  )
}
