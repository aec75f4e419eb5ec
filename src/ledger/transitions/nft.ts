import type { NftOutput } from '../../protocol/outputs.ts'
import { hasCapability } from '../capabilities.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { idIsNew, immutableFeaturesKept, issuerUnlocked } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The life of an NFT (ledger reference 6.1). */

/** An NFT begins. */
export function nftBegins(
  set: WorkingSet,
  nft: Beginning<NftOutput>,
): TransactionError | undefined {
  return idIsNew(nft.state.nftId, nft.output) ?? issuerUnlocked(set, nft)
}

/** An NFT goes on; everything may change but what is immutable. */
export function nftChanges(change: Change<NftOutput>): TransactionError | undefined {
  return immutableFeaturesKept(change)
}

/** An NFT ends. */
export function nftEnds(set: WorkingSet, { input }: End<NftOutput>): TransactionError | undefined {
  const mayEnd = hasCapability(set.transaction, 'destroyNfts')
  return mayEnd ? undefined : { code: 'CAPABILITIES_NFT_DESTRUCTION_NOT_ALLOWED', input }
}
