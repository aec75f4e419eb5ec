import { passTurn } from '../../lib/turns.ts'
import { rowsPerTurn } from '../../store/contract/list.ts'
import type { OutputPosition, UnspentFilter, UnspentQuery } from '../../store/contract/view.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/**
 * Pages of unspent outputs, also for filters that match few outputs. In a large ledger a scan for rare outputs is long, and on
 * SQLite a statement blocks the event loop. A page is therefore read in batches: other work runs between them, each batch
 * counts towards the cost of its request, and the scan stops when the request ends.
 */

type Read = Pick<Services['store']['read'], 'unspentOutputs' | 'unspentScanEnd'>

/** Rows of a page. `stoppedAt` is set if the scan stopped early: the position after which it continues. */
export interface ScannedRows {
  readonly rows: readonly OutputRow[]
  readonly stoppedAt?: OutputPosition | undefined
}

/** Reads a page. The scan stops after `maxBatches` batches that have fewer rows than requested. */
export async function scanUnspent(
  read: Read,
  query: UnspentQuery,
  maxBatches: number = Number.POSITIVE_INFINITY,
): Promise<ScannedRows> {
  const { filter, limit, order } = query
  const isSparse = mayReject(filter)
  const rows: OutputRow[] = []
  let { after, before } = query
  // Most filters match many outputs, so the first batch is small.
  for (let batches = 0, scanLimit = rowsPerTurn; ; scanLimit *= 4) {
    const part = { ...query, after, before }
    const at = isSparse ? (await read.unspentScanEnd(part, scanLimit)).at : undefined
    const wanted = Math.min(limit - rows.length, rowsPerTurn)
    const found = await read.unspentOutputs({ ...part, through: at, limit: wanted })
    rows.push(...found)
    if (rows.length >= limit) return { rows }
    const isFull = found.length === wanted
    const last = isFull ? found.at(-1) : at
    if (last === undefined) return { rows }
    if (!isFull && ++batches === maxBatches) return { rows, stoppedAt: at }
    if (order === 'descending') before = last
    else after = last
    await passTurn()
  }
}

/** Whether a scan may read outputs that do not match the filter. A filter by one kind or one key alone reads only matches. */
function mayReject({ heldBy, anyOf, keys = [], kinds, ...filter }: UnspentFilter): boolean {
  const { hasTimelock, timelocked, hasExpiration, expires, hasReturn, hasToken } = filter
  const given = [hasTimelock, timelocked, hasExpiration, expires, hasReturn, hasToken]
  const byKey = heldBy !== undefined || anyOf !== undefined || keys.length > 0
  return (
    given.some((one) => one !== undefined) ||
    keys.length > 1 ||
    // The index of this key covers all outputs that the address holds.
    keys[0]?.kind === 'OWNER' ||
    (keys.length > 0 && (heldBy !== undefined || anyOf !== undefined)) ||
    (byKey && kinds !== undefined)
  )
}
