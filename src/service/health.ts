import type { LedgerSource } from '../node/source.ts'
import type { StoreReader } from '../store/contract.ts'

/** Whether the gateway can do its work. */

/** What the question about health needs. */
export interface HealthDeps {
  readonly store: { readonly read: Pick<StoreReader, 'logTip'> }
  readonly source: Pick<LedgerSource, 'status'>
}

/** Whether the database answers and the ledger keeps up with the clock. */
export async function isHealthy({ store, source }: HealthDeps): Promise<boolean> {
  try {
    await store.read.logTip()
    return source.status().isHealthy
  } catch {
    // The reason is in the answer of every other request; here only the fact is asked for.
    return false
  }
}
