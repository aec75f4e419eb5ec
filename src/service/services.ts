import type { ChainRecordFeed } from '../feed/chain-records.ts'
import type { Feed } from '../feed/open.ts'
import type { Clock } from '../lib/clock.ts'
import type { SignatureChecker } from '../node/signatures.ts'
import type { LedgerSource } from '../node/source.ts'
import type { SpaceWatch } from '../node/space-watch.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { Store } from '../store/contract.ts'
import type { Stakers } from './accounts/stakers.ts'
import type { KeptChanges } from './blocks/kept-changes.ts'
import type { Faucet } from './faucet/faucet-requests.ts'

/** Everything the services use. The gateway makes it once; a service takes a `Pick` of it. */
export interface Services {
  readonly store: Pick<Store, 'read' | 'primary' | 'write' | 'snapshot' | 'replicas' | 'isShared'>
  readonly source: LedgerSource
  /** The parameters of the network of `source`. */
  readonly parameters: ProtocolParameters
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly clock: Clock
  /** Whether there is room for new blocks. */
  readonly space: Pick<SpaceWatch, 'low'>
  readonly feed: Feed
  readonly chainRecords: ChainRecordFeed
  readonly stakers: Stakers
  readonly keptChanges: KeptChanges
  /** Whether another process may know more of the log than this one. */
  readonly mayLag: boolean
  /** Who may submit blocks: everyone, no one, or the holder of a valid token. */
  readonly submissionPolicy: 'open' | 'closed' | 'token'
  /** The version of the program. */
  readonly version: string
  /** The faucet of the development network; other networks have none. */
  readonly faucet: Faucet | undefined
  /** Whether the network is that of development, whose keys are public and whose tokens are worth nothing. */
  readonly isDevelopment: boolean
}
