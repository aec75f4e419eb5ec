import type { StoreReader } from '../../store/contract.ts'
import type { LogTip } from '../../store/rows.ts'

/** How far the log of ledger updates reaches. */

/** What telling needs. */
export interface LogTipDeps {
  readonly store: { readonly read: Pick<StoreReader, 'logTip'> }
}

/** The id of the log and its newest place. */
export function readLogTip({ store }: LogTipDeps): Promise<LogTip> {
  return store.read.logTip()
}
