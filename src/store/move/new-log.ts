import { randomBytes } from 'node:crypto'
import type { Tx } from '../client.ts'

/** Accepts that the database lacks what processes have seen: it goes on as another log. `false` where none has noted that. */
export async function acceptHistory(tx: Tx): Promise<boolean> {
  const where = { rewoundFrom: { not: null } }
  const { count } = await tx.publishedTip.updateMany({ where, data: { rewoundFrom: null } })
  if (count > 0) await beginNewLog(tx)
  return count > 0
}

/**
 * Gives a restored ledger another log id, so that no cursor of the former log is taken for one of this: whatever that went on to
 * after the backup is not here. A lease that the backup holds is that of no process any more.
 */
export async function beginNewLog(tx: Tx): Promise<void> {
  await tx.network.update({ where: { id: 1n }, data: { logId: Uint8Array.from(randomBytes(8)) } })
  await tx.writer.updateMany({ data: { until: 0n } })
}
