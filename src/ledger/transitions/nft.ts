import type { NftOutput } from '../../protocol/outputs.ts'
import { hasCapability } from '../capabilities.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { idIsNew, immutableFeaturesKept, issuerUnlocked } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The transitions of an NFT (ledger reference 6.1). */

/** Checks a new NFT. */
export function nftBegins(
  set: WorkingSet,
  nft: Beginning<NftOutput>,
): TransactionError | undefined {
  return idIsNew(nft.state.nftId, nft.output) ?? issuerUnlocked(set, nft)
}

/** Checks a changed NFT. Everything except the immutable features may change. */
export function nftChanges(change: Change<NftOutput>): TransactionError | undefined {
  return immutableFeaturesKept(change)
}

/** Checks the end of an NFT. */
export function nftEnds(set: WorkingSet, { input }: End<NftOutput>): TransactionError | undefined {
  const mayEnd = hasCapability(set.transaction, 'destroyNfts')
  return mayEnd ? undefined : { code: 'CAPABILITIES_NFT_DESTRUCTION_NOT_ALLOWED', input }
}
