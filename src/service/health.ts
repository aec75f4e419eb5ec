import type { LedgerSource } from '../node/source.ts'
import type { StoreReader } from '../store/contract.ts'

/** Whether the gateway can do its work. */

/** What the question about health needs. */
export interface HealthDeps {
  readonly store: { readonly read: Pick<StoreReader, 'logTip'> }
  readonly source: Pick<LedgerSource, 'status'>
}

/** How the gateway is. */
export interface Health {
  /** Whether the database answers and the ledger keeps up with the clock. */
  readonly isHealthy: boolean
  /** Whether this process writes the ledger, or another one on its database does. */
  readonly role: 'WRITER' | 'MEMBER'
  /** Of the writer, as far as it was heard of. */
  readonly term: number
}

/** Asks the database, and tells what it is among those on it. */
export async function readHealth({ store, source }: HealthDeps): Promise<Health> {
  const { isHealthy, role, term } = source.status()
  try {
    await store.read.logTip()
    return { isHealthy, role, term }
  } catch {
    // The reason is in the answer of every other request; here only the fact is asked for.
    return { isHealthy: false, role, term }
  }
}
