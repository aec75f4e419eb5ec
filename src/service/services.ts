import type { ActivateChainDeps } from './activate-chain.ts'
import type { AddressKeyDeps } from './address-key.ts'
import type { ChainRecordsDeps } from './chain-records.ts'
import type { CongestionDeps } from './congestion.ts'
import type { ExploreDeps } from './explore.ts'
import type { Faucet } from './faucet.ts'
import type { FindOutputsDeps } from './find-outputs.ts'
import type { FollowChainRecordsDeps } from './follow-chain-records.ts'
import type { FollowLedgerUpdatesDeps } from './follow-ledger-updates.ts'
import type { FollowMilestonesDeps } from './follow-milestones.ts'
import type { FollowStatesDeps } from './follow-states.ts'
import type { ForeseeTransactionDeps } from './foresee-transaction.ts'
import type { LedgerNewsDeps } from './ledger-news.ts'
import type { ListExplorerUpdatesDeps } from './list-explorer-updates.ts'
import type { ListLedgerUpdatesDeps } from './list-ledger-updates.ts'
import type { ListUnspentOutputsDeps } from './list-unspent-outputs.ts'
import type { ManaOfAddressDeps } from './mana-of-address.ts'
import type { ManaRewardsDeps } from './mana-rewards.ts'
import type { NetworkMetricsDeps } from './network-metrics.ts'
import type { NodeInfoDeps } from './node-info.ts'
import type { OutputMetadataDeps } from './output-metadata.ts'
import type { ProvenOutputDeps } from './output-proof.ts'
import type { ReadAccountDeps } from './read-account.ts'
import type { ReadAddressDeps } from './read-address.ts'
import type { ReadBlockDeps } from './read-block.ts'
import type { ReadCommitmentDeps } from './read-commitment.ts'
import type { ReadMilestoneDeps } from './read-milestone.ts'
import type { ReadOutputDeps } from './read-output.ts'
import type { ReadTransactionDeps } from './read-transaction.ts'
import type { SetChainRecordDeps } from './set-chain-record.ts'
import type { SubmitBlockDeps } from './submit-block.ts'
import type { TokenStatisticsDeps } from './token-statistics.ts'
import type { UpdateHistoryDeps } from './update-history.ts'
import type { ValidatorsDeps } from './validators.ts'

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
  LedgerNewsDeps &
  ListExplorerUpdatesDeps &
  ListLedgerUpdatesDeps &
  ListUnspentOutputsDeps &
  ManaOfAddressDeps &
  ReadAddressDeps &
  ReadAccountDeps &
  ForeseeTransactionDeps &
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
