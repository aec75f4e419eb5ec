import type { LogTip } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** The tip of the log of ledger updates. */

/** Reads the id of the log and its newest position. */
export function readLogTip({ store }: Pick<Services, 'store'>): Promise<LogTip> {
  return store.read.logTip()
}
