import type { ManaRewardsError } from '../service/accounts/mana-rewards.ts'
import type { EpochNotBegun } from '../service/accounts/validators.ts'
import type { AddressError } from '../service/addresses/address-key.ts'
import type { ChainRecordUnknown } from '../service/chain-records/activate-chain.ts'
import type { ChainRecordPageError } from '../service/chain-records/chain-records.ts'
import type { FollowChainRecordsError } from '../service/chain-records/follow-chain-records.ts'
import type { SetChainRecordError } from '../service/chain-records/set-chain-record.ts'
import type { FaucetError, FaucetPaymentFailed } from '../service/faucet/faucet-requests.ts'
import type { FollowLedgerUpdatesError } from '../service/feed/follow-ledger-updates.ts'
import type { DatabaseAway } from '../service/network/database-away.ts'
import type { NodeAnswerUnreadable, NodeContradiction } from '../service/network/health.ts'
import type { NotOffered } from '../service/network/not-offered.ts'
import type { ListUnspentOutputsError } from '../service/outputs/list-unspent-outputs.ts'
import type { OutputNotServed } from '../service/outputs/output-life.ts'
import type { UpdatesNotKept } from '../service/slots/explore.ts'
import type { SimulateTransactionError } from '../service/submit/simulate-transaction.ts'
import type { SubmitBlockError } from '../service/submit/submit-block.ts'
import type { ListLedgerUpdatesError } from '../service/updates/list-ledger-updates.ts'
import type { PageCursorMalformed } from '../service/updates/update-position.ts'
import type { AuthError } from './auth.ts'
import type { AnswerTooLarge, ClientLeft } from './graphql/budget.ts'
import type { OperationTooCostly } from './graphql/cost.ts'
import type { DocumentTooDeep, TooManyAliases, TooManyDirectives } from './graphql/limits.ts'
import type { LimitError } from './limits.ts'
import type { BodyError } from './rest/body.ts'
import type { IfMatchMalformed } from './rest/chain-record.ts'
import type { AddressNotAnAccount } from './rest/core/accounts.ts'
import type { NotFound, PathIdMalformed, PathSlotMalformed } from './rest/core/ids.ts'
import type { RangeReversed } from './rest/explorer/milestones.ts'
import type { LedgerIndexNotKept, LedgerMoved } from './rest/explorer/statistics.ts'
import type { FaucetMissing, FaucetRequestMalformed } from './rest/faucet.ts'
import type { AddressOfAnotherKind } from './rest/indexer/chains.ts'
import type { MatchError } from './rest/match.ts'
import type { QueryParameterMalformed } from './rest/query.ts'
import type { SubmissionNotAllowed } from './submission-policy.ts'
import type { RequestUnreadable } from './unreadable.ts'

/** Every expected failure that a door can tell, from all rooms. A new union is added here and its rows to `faces`. */
export type GatewayError =
  | AuthError
  | BodyError
  | MatchError
  | RequestUnreadable
  | DocumentTooDeep
  | TooManyAliases
  | TooManyDirectives
  | OperationTooCostly
  | AnswerTooLarge
  | ClientLeft
  | InternalError
  | EventsNotAccepted
  | DatabaseAway
  | AddressError
  | ListLedgerUpdatesError
  | FollowLedgerUpdatesError
  | PageCursorMalformed
  | QueryParameterMalformed
  | SetChainRecordError
  | ChainRecordUnknown
  | FollowChainRecordsError
  | FaucetError
  | FaucetMissing
  | FaucetPaymentFailed
  | FaucetRequestMalformed
  | IfMatchMalformed
  | ChainRecordPageError
  | SubmitBlockError
  | ListUnspentOutputsError
  | SimulateTransactionError
  | SubmissionNotAllowed
  | PathIdMalformed
  | PathSlotMalformed
  | LimitError
  | NotFound
  | AddressNotAnAccount
  | AddressOfAnotherKind
  | RangeReversed
  | UpdatesNotKept
  | LedgerIndexNotKept
  | LedgerMoved
  | EpochNotBegun
  | ManaRewardsError
  | OutputNotServed
  | NotOffered
  | NodeContradiction
  | NodeAnswerUnreadable

/** A subscription was asked for by a request that takes no stream of events. */
export interface EventsNotAccepted {
  readonly code: 'EVENTS_NOT_ACCEPTED'
}

/** A bug or a broken machine. The log has the rest, under the request id. */
export interface InternalError {
  readonly code: 'INTERNAL'
  readonly requestId: string
}
