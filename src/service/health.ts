import type { FollowingStatus, LedgerSource } from '../node/source.ts'
import type { Contradiction } from '../node/upstream/contradiction.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'

/** Whether the gateway can do its work. */

/** What a node said that contradicts what is committed here. */
export type NodeContradiction = Contradiction

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
  /** In front of a node: how the following goes. */
  readonly following: FollowingHealth | undefined
}

/** How the following of a node goes, and how far it has come. */
export interface FollowingHealth extends FollowingStatus {
  readonly committedSlot: SlotIndex
}

/** Asks the database, and tells what it is among those on it. */
export async function readHealth({ store, source }: HealthDeps): Promise<Health> {
  const { isHealthy, ...status } = source.status()
  const { role, term, latestCommittedSlot: committedSlot } = status
  const following = status.following && { ...status.following, committedSlot }
  try {
    await store.read.logTip()
    return { isHealthy, role, term, following }
  } catch {
    // The reason is in the answer of every other request; here only the fact is asked for.
    return { isHealthy: false, role, term, following }
  }
}
