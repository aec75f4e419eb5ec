import { passTurn } from '../../lib/turns.ts'
import { rowsPerTurn } from '../../store/list-contract.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { OutputPosition, UnspentFilter, UnspentQuery } from '../../store/view-contract.ts'
import type { Services } from '../services.ts'

/**
 * Pages of unspent outputs, also by filters that few of them may fulfil. What is rare in a large ledger is far apart, and on SQLite the
 * event loop waits for a statement: a page is read piece by piece, others have their turns between the pieces, and each of
 * them is paid for and ends with its request.
 */

type Read = Pick<Services['store']['read'], 'unspentOutputs' | 'unspentStop'>

/** Rows of a page; where they are fewer than were asked for and there may be more, the place to go on after. */
export interface ScannedRows {
  readonly rows: readonly OutputRow[]
  readonly stoppedAt?: OutputPosition | undefined
}

/** Reads a page; it stops after so many pieces that have fewer rows than were asked for. */
export async function scanUnspent(
  read: Read,
  question: UnspentQuery,
  mostPieces: number = Number.POSITIVE_INFINITY,
): Promise<ScannedRows> {
  const { filter, limit, order } = question
  const isSparse = mayReject(filter)
  const rows: OutputRow[] = []
  let { after, before } = question
  // Most filters are fulfilled by many: the first piece is a short one.
  for (let pieces = 0, most = rowsPerTurn; ; most *= 4) {
    const part = { ...question, after, before }
    const at = isSparse ? (await read.unspentStop(part, most)).at : undefined
    const wanted = Math.min(limit - rows.length, rowsPerTurn)
    const found = await read.unspentOutputs({ ...part, through: at, limit: wanted })
    rows.push(...found)
    if (rows.length >= limit) return { rows }
    const isFull = found.length === wanted
    const last = isFull ? found.at(-1) : at
    if (last === undefined) return { rows }
    if (!isFull && ++pieces === mostPieces) return { rows, stoppedAt: at }
    if (order === 'descending') before = last
    else after = last
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
    // Found among what the address holds.
    keys[0]?.kind === 'OWNER' ||
    (keys.length > 0 && (heldBy !== undefined || anyOf !== undefined)) ||
    (byKey && kinds !== undefined)
  )
}
