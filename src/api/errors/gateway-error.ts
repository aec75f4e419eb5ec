import type { ManaRewardsError } from '../../service/accounts/mana-rewards.ts'
import type { EpochNotBegun } from '../../service/accounts/validators.ts'
import type { AsOfError } from '../../service/addresses/address-as-of.ts'
import type { HistoryRangeReversed } from '../../service/addresses/address-history.ts'
import type { AddressError } from '../../service/addresses/address-key.ts'
import type { NotServedByNode } from '../../service/blocks/read-block.ts'
import type { ChainRecordUnknown } from '../../service/chain-records/activate-chain.ts'
import type { FollowChainRecordsError } from '../../service/chain-records/follow-chain-records.ts'
import type { SetChainRecordError } from '../../service/chain-records/set-chain-record.ts'
import type { FaucetError, FaucetPaymentFailed } from '../../service/faucet/faucet-requests.ts'
import type { FilterNotLive } from '../../service/feed/follow-blocks.ts'
import type { FollowLedgerUpdatesError } from '../../service/feed/follow-ledger-updates.ts'
import type { FilterAmbiguous } from '../../service/lists/list-blocks.ts'
import type { FilterAddressCount, FilterNeedsUnspent } from '../../service/lists/list-outputs.ts'
import type { DatabaseAway, QueryTooLong } from '../../service/network/database-away.ts'
import type { AnswerUnreadable, Contradiction } from '../../service/network/health.ts'
import type { SnapshotError } from '../../service/network/ledger-snapshot.ts'
import type { NotOffered } from '../../service/network/not-offered.ts'
import type { CommitmentRootsNotReady } from '../../service/outputs/unspent-proof.ts'
import type { UpdatesNotKept } from '../../service/slots/explorer-lists.ts'
import type { ActivityError } from '../../service/slots/read-activity.ts'
import type { SimulateTransactionError } from '../../service/submit/simulate-transaction.ts'
import type { SubmitBlockError } from '../../service/submit/submit-block.ts'
import type { ListLedgerUpdatesError } from '../../service/updates/list-ledger-updates.ts'
import type { PageCursorMalformed } from '../../service/updates/update-position.ts'
import type { ApiError } from './api-errors.ts'

/** Every expected failure that is reported to clients. A new failure is added to this union and to the error table. */
export type GatewayError =
  | ApiError
  | DatabaseAway
  | QueryTooLong
  | AddressError
  | AsOfError
  | ListLedgerUpdatesError
  | FollowLedgerUpdatesError
  | PageCursorMalformed
  | SetChainRecordError
  | ChainRecordUnknown
  | FollowChainRecordsError
  | FaucetError
  | FaucetPaymentFailed
  | SubmitBlockError
  | FilterAddressCount
  | FilterAmbiguous
  | FilterNeedsUnspent
  | FilterNotLive
  | SimulateTransactionError
  | UpdatesNotKept
  | ActivityError
  | HistoryRangeReversed
  | EpochNotBegun
  | ManaRewardsError
  | NotServedByNode
  | NotOffered
  | SnapshotError
  | CommitmentRootsNotReady
  | Contradiction
  | AnswerUnreadable
