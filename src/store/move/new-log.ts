import { randomBytes } from 'node:crypto'
import type { Tx } from '../client.ts'

/**
 * Accepts that the database lacks changes that processes have seen, and continues with a new log. Resolves to `false` if no process has
 * recorded such a loss.
 */
export async function acceptHistory(tx: Tx): Promise<boolean> {
  const where = { rewoundFrom: { not: null } }
  const { count } = await tx.publishedTip.updateMany({ where, data: { rewoundFrom: null } })
  if (count > 0) await beginNewLog(tx)
  return count > 0
}

/**
 * Replaces the log id of a restored ledger, so that cursors of the old log are invalid: the ledger lacks what the old log recorded after
 * the backup. It also ends the lease in the backup, which no process holds any more.
 */
export async function beginNewLog(tx: Tx): Promise<void> {
  await tx.network.update({ where: { id: 1n }, data: { logId: Uint8Array.from(randomBytes(8)) } })
  await tx.writer.updateMany({ data: { until: 0n } })
}
