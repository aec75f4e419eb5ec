import { randomBytes } from 'node:crypto'
import type { Tx } from '../client.ts'

/**
 * Gives a restored ledger another log id, so that no cursor of the former log is taken for one of this: whatever that went on to
 * after the backup is not here. A lease that the backup holds is that of no process any more.
 */
export async function beginNewLog(tx: Tx): Promise<void> {
  await tx.network.update({ where: { id: 1n }, data: { logId: Uint8Array.from(randomBytes(8)) } })
  await tx.writer.updateMany({ data: { until: 0n } })
}
