import type { ChainRecordFeed } from '../feed/chain-records.ts'
import type { Feed } from '../feed/open.ts'
import type { Clock } from '../lib/clock.ts'
import type { SignatureChecker } from '../node/signatures.ts'
import type { LedgerSource } from '../node/source.ts'
import type { SpaceWatch } from '../node/space-watch.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { Store } from '../store/contract.ts'
import type { Stakers } from './accounts/stakers.ts'
import type { ChangeCache } from './blocks/change-cache.ts'
import type { Faucet } from './faucet/faucet-requests.ts'

/** Dependencies of the services. The gateway creates them once; each service takes a `Pick` of them. */
export interface Services {
  readonly store: Pick<
    Store,
    'read' | 'primary' | 'write' | 'snapshot' | 'replicas' | 'isShared' | 'changes'
  >
  readonly source: LedgerSource
  /** The parameters of the network of `source`. */
  readonly parameters: ProtocolParameters
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly clock: Clock
  /** Reports whether disk space for new blocks is low. */
  readonly space: Pick<SpaceWatch, 'low'>
  readonly feed: Feed
  readonly chainRecords: ChainRecordFeed
  readonly stakers: Stakers
  readonly changeCache: ChangeCache
  /** Whether another process may know newer rows of the log than this process. */
  readonly mayLag: boolean
  /** The clients that may submit blocks: all clients, none, or holders of a valid token. */
  readonly submissionPolicy: 'open' | 'closed' | 'token'
  readonly version: string
  /** The faucet of the development network; `undefined` on other networks. */
  readonly faucet: Faucet | undefined
  /** Whether the network is the development network, whose keys are public and whose tokens have no value. */
  readonly isDevelopment: boolean
}
