import type { CongestionDeps } from './accounts/congestion.ts'
import type { ManaRewardsDeps } from './accounts/mana-rewards.ts'
import type { ReadAccountDeps } from './accounts/read-account.ts'
import type { ValidatorsDeps } from './accounts/validators.ts'
import type { AddressKeyDeps } from './addresses/address-key.ts'
import type { ManaOfAddressDeps } from './addresses/mana-of-address.ts'
import type { ReadAddressDeps } from './addresses/read-address.ts'
import type { TokenStatisticsDeps } from './addresses/token-statistics.ts'
import type { ReadBlockDeps } from './blocks/read-block.ts'
import type { ReadTransactionDeps } from './blocks/read-transaction.ts'
import type { ActivateChainDeps } from './chain-records/activate-chain.ts'
import type { ChainRecordsDeps } from './chain-records/chain-records.ts'
import type { FollowChainRecordsDeps } from './chain-records/follow-chain-records.ts'
import type { SetChainRecordDeps } from './chain-records/set-chain-record.ts'
import type { Faucet } from './faucet/faucet.ts'
import type { FollowLedgerUpdatesDeps } from './feed/follow-ledger-updates.ts'
import type { FollowMilestonesDeps } from './feed/follow-milestones.ts'
import type { FollowStatesDeps } from './feed/follow-states.ts'
import type { LedgerEventDeps } from './feed/ledger-events.ts'
import type { NetworkMetricsDeps } from './network/network-metrics.ts'
import type { NodeInfoDeps } from './network/node-info.ts'
import type { FindOutputsDeps } from './outputs/find-outputs.ts'
import type { ListUnspentOutputsDeps } from './outputs/list-unspent-outputs.ts'
import type { OutputMetadataDeps } from './outputs/output-metadata.ts'
import type { ProvenOutputDeps } from './outputs/output-proof.ts'
import type { ReadOutputDeps } from './outputs/read-output.ts'
import type { ExploreDeps } from './slots/explore.ts'
import type { ReadCommitmentDeps } from './slots/read-commitment.ts'
import type { ReadMilestoneDeps } from './slots/read-milestone.ts'
import type { SimulateTransactionDeps } from './submit/simulate-transaction.ts'
import type { SubmitBlockDeps } from './submit/submit-block.ts'
import type { ListExplorerUpdatesDeps } from './updates/list-explorer-updates.ts'
import type { ListLedgerUpdatesDeps } from './updates/list-ledger-updates.ts'
import type { UpdateHistoryDeps } from './updates/update-history.ts'

/**
 * Everything the services need, made once by the gateway. Each service names what it takes of it in a type of its own;
 * this is all of these together.
 */
export type Services = ChainRecordsDeps &
  SetChainRecordDeps &
  ActivateChainDeps &
  FollowChainRecordsDeps &
  FindOutputsDeps &
  ExploreDeps &
  TokenStatisticsDeps &
  AddressKeyDeps &
  LedgerEventDeps &
  ListExplorerUpdatesDeps &
  ListLedgerUpdatesDeps &
  ListUnspentOutputsDeps &
  ManaOfAddressDeps &
  ReadAddressDeps &
  ReadAccountDeps &
  SimulateTransactionDeps &
  FollowLedgerUpdatesDeps &
  FollowMilestonesDeps &
  FollowStatesDeps &
  UpdateHistoryDeps &
  SubmitBlockDeps &
  NodeInfoDeps &
  NetworkMetricsDeps &
  OutputMetadataDeps &
  CongestionDeps &
  ManaRewardsDeps &
  ValidatorsDeps &
  ProvenOutputDeps &
  ReadCommitmentDeps &
  ReadBlockDeps &
  ReadTransactionDeps &
  ReadOutputDeps &
  ReadMilestoneDeps & {
    /** Who may submit blocks: everybody, nobody, or the holder of a valid token. */
    readonly submissionPolicy: 'open' | 'closed' | 'token'
    /** Of the program. */
    readonly version: string
    /** Of the development network; no other has one. */
    readonly faucet: Faucet | undefined
  }
