import type { AddressKeyDeps } from './address-key.ts'
import type { ChainRecordsDeps } from './chain-records.ts'
import type { FollowLedgerUpdatesDeps } from './follow-ledger-updates.ts'
import type { ListLedgerUpdatesDeps } from './list-ledger-updates.ts'
import type { NodeInfoDeps } from './node-info.ts'
import type { ProvenOutputDeps } from './output-proof.ts'
import type { ReadBlockDeps } from './read-block.ts'
import type { ReadMilestoneDeps } from './read-milestone.ts'
import type { ReadOutputDeps } from './read-output.ts'
import type { ReadTransactionDeps } from './read-transaction.ts'
import type { SetChainRecordDeps } from './set-chain-record.ts'
import type { SubmitBlockDeps } from './submit-block.ts'
import type { UpdateHistoryDeps } from './update-history.ts'

/**
 * Everything the services need, made once by the gateway. Each service names what it takes of it in a type of its own;
 * this is all of these together.
 */
export type Services = ChainRecordsDeps &
  SetChainRecordDeps &
  AddressKeyDeps &
  ListLedgerUpdatesDeps &
  FollowLedgerUpdatesDeps &
  UpdateHistoryDeps &
  SubmitBlockDeps &
  NodeInfoDeps &
  ProvenOutputDeps &
  ReadBlockDeps &
  ReadTransactionDeps &
  ReadOutputDeps &
  ReadMilestoneDeps & {
    /** Who may submit blocks: everybody, nobody, or the holder of a valid token. */
    readonly submissionPolicy: 'open' | 'closed' | 'token'
    /** Of the program. */
    readonly version: string
  }
