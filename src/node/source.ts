import type { Hex } from '../lib/hex.ts'
import type { Result } from '../lib/result.ts'
import type { Block } from '../protocol/block.ts'
import type { OutputIdProof, SlotCommitment } from '../protocol/commitment.ts'
import type { Network } from '../protocol/network.ts'
import type { OutputMetadata, TransactionMetadata } from '../protocol/node-responses.ts'
import type {
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../protocol/primitives.ts'
import type { Schema } from '../protocol/schema/schema.ts'
import type { Payload } from '../protocol/transaction.ts'
import type { Acceptance } from '../store/contract.ts'
import type { BlockRow, TransactionRow } from '../store/rows.ts'
import type { Contradiction } from './contradiction.ts'
import type { HealthReason } from './health-reasons.ts'
import type { LeaderStatus } from './leader-election.ts'
import type { PreparedTransaction } from './prepared-transaction.ts'
import type { SnapshotHead } from './snapshot/snapshot-format.ts'
import type { AnswerUnreadable } from './unreadable.ts'
import type { UnspentProofs } from './unspent-proofs.ts'

/** The interface of a ledger: the ledger that this program keeps, or the ledger of the nodes that it follows. */

/** A ledger that accepts blocks. */
export interface LedgerSource {
  readonly network: Network
  /**
   * Submits a block that has passed all checks. Resolves when the block is durable, or when a node has accepted it: to KNOWN if it was
   * submitted before.
   */
  submit(block: CheckedBlock): Promise<Result<Submitted, SubmitRefused>>
  /** Why no block can be accepted now; `undefined` while blocks are accepted. */
  unavailable(): LedgerUnavailable | undefined
  /** The parents and the commitment that a client needs to issue a block now. */
  issuance(): Promise<Result<Issuance, LedgerUnavailable>>
  /** Builds and signs a block around a payload with the node's own issuer account. */
  issue(
    payload: Payload | undefined,
  ): Promise<Result<Block, IssuerNotConfigured | LedgerUnavailable>>
  status(): SourceStatus
  /** Creates the head of a snapshot of the newest slot; `undefined` in upstream mode, where the nodes keep the accounts. */
  readonly snapshotHead: (() => Promise<Result<SnapshotHead, SnapshotNotReady>>) | undefined
  /** Proves unspent outputs against the newest commitment; `undefined` in upstream mode, where the nodes keep the roots. */
  readonly unspentProofs: UnspentProofs | undefined
  /** Number of blocks that wait to be written; 0 in upstream mode. */
  waiting(): number
  /** Serves data that is not in the database, in upstream mode; `undefined` in embedded mode. */
  readonly node: UpstreamNode | undefined
  close(): Promise<void>
}

/** No slot is committed yet, or the tries behind the roots of the newest one are being built. */
export interface SnapshotNotReady {
  readonly code: 'SNAPSHOT_NOT_READY'
}

/** The nodes of upstream mode, which serve data that is not in the database. */
export interface UpstreamNode {
  /** A block, checked against its id; `undefined` if the node does not know it. A final block is stored. */
  block(id: BlockId): Promise<Result<BlockRow | undefined, NotServedByNode>>
  /** A transaction with the block that carries it, checked against their ids. Both are stored when final. */
  transaction(id: TransactionId): Promise<Result<CarriedTransaction | undefined, NotServedByNode>>
  /** The state of a transaction, also when its block is not served. */
  transactionMetadata(
    id: TransactionId,
  ): Promise<Result<TransactionMetadata | undefined, NotServedByNode>>
  /** The hash of the essence of a transaction; known if one of its outputs was proven recently. */
  transactionCommitment(id: TransactionId): Hex | undefined
  /** The checked proof of an output of the ledger. */
  proof(outputId: OutputId, output: Uint8Array): Promise<Result<OutputIdProof, NotServedByNode>>
  /** The node's metadata of an output of the ledger, which has more fields than the log. */
  outputMetadata(id: OutputId): Promise<Result<OutputMetadata, NotServedByNode>>
  /** The response of a route of the core API, by its path after the base; `undefined` if the node has none. */
  fetch<T>(path: string, schema: Schema<T>): Promise<Result<T | undefined, NotServedByNode>>
}

/** A transaction, and the block that contains it. */
export interface CarriedTransaction {
  readonly transaction: TransactionRow
  readonly block: BlockRow
}

/** Why a node does not serve an item. */
export type NotServedByNode = NotServedNow | NotKept

/** No node responds now, or not with a response that can be read. A repeated request may succeed. */
export interface NotServedNow {
  readonly code: 'NOT_TOLD_BY_NODE'
  /** Description of the item. */
  readonly what: string
  /** Description of the fault of an unreadable response. */
  readonly unreadable?: string
}

/** The nodes respond that they do not have an item of the ledger: they have removed it, or never kept it. */
export interface NotKept {
  readonly code: 'NOT_KEPT_BY_NODE'
  /** Description of the item. */
  readonly what: string
}

export interface CheckedBlock {
  readonly block: Block
  /** The received bytes, or the serialization of the received JSON. */
  readonly bytes: Uint8Array
  readonly blockId: BlockId
  readonly slot: SlotIndex
  /** The prepared transaction, if the block carries one. */
  readonly transaction: PreparedTransaction | undefined
}

/** Whether an accepted block is new or was accepted before. */
export type Submitted = Exclude<Acceptance, 'SLOT_CLOSED'>

/** Why a checked block was not accepted. */
export type SubmitRefused = SlotClosed | InboxFull | LedgerUnavailable | RefusedByNode

/** The slot of the block is already committed. */
export interface SlotClosed {
  readonly code: 'SLOT_CLOSED'
  readonly slot: SlotIndex
}

/** The inbox is full: too many blocks wait to be written. */
export interface InboxFull {
  readonly code: 'INBOX_FULL'
  readonly waiting: number
}

/** The node refused the block. The reason is the message of the node. */
export interface RefusedByNode {
  readonly code: 'REFUSED_BY_NODE'
  readonly reason: string
}

/**
 * The ledger cannot accept blocks now: it lags the clock, the clock lags the ledger, the clock jumped ahead and may be wrong,
 * another process holds the file, this process is closing, or no node accepts blocks.
 */
export interface LedgerUnavailable {
  readonly code: 'LEDGER_UNAVAILABLE'
  readonly reason: Exclude<
    HealthReason,
    | 'NODE_UNHEALTHY'
    | 'CATCHING_UP'
    | 'COMMITMENT_OLD'
    | 'LEASE_UNCONFIRMED'
    | 'PRIMARY_AWAY'
    | 'DATABASE_AWAY'
  >
}

/** The node has no issuer account of its own. */
export interface IssuerNotConfigured {
  readonly code: 'ISSUER_NOT_CONFIGURED'
}

/** The parents and the commitment that a block issued now should refer to. */
export interface Issuance {
  readonly strongParents: readonly BlockId[]
  /** Unix time in nanoseconds; a block must be issued after it. */
  readonly latestParentBlockIssuingTime: bigint
  readonly latestFinalizedSlot: SlotIndex
  /** One slot older than the newest commitment, for clients whose clock is behind. */
  readonly latestCommitment: SlotCommitment
}

/** The state of the ledger. */
export interface SourceStatus extends LeaderStatus {
  /** Why the process cannot do its work; empty while it can. */
  readonly reasons: readonly HealthReason[]
  /** The one of `reasons` why no block can be accepted now; `undefined` while blocks are accepted, even if there are other reasons. */
  readonly unavailable: LedgerUnavailable['reason'] | undefined
  readonly latestCommitmentId: CommitmentId
  readonly latestCommittedSlot: SlotIndex
  /** The current slot. */
  readonly slot: SlotIndex
  /** The start-up step of a leader in embedded mode; `undefined` while the process writes, and without a lease. */
  readonly starting: StartupStep | undefined
  /** How this process follows the nodes in upstream mode; `undefined` in embedded mode. */
  readonly following: FollowingStatus | undefined
}

/** A start-up step of a leader, and its progress. */
export interface StartupStep {
  readonly step: (typeof startingSteps)[number]
  /** Number of outputs in the tries, or of committed slots; 0 of 0 when unknown. */
  readonly done: number
  readonly of: number
}

/** The start-up steps of a leader, in order. */
export const startingSteps = ['READING_LEDGER', 'BUILDING_TRIES', 'COMMITTING_SLOTS'] as const

export const followingStates = [
  'STANDBY',
  'CATCHING_UP',
  'FOLLOWING',
  'NODES_AWAY',
  'UNREADABLE',
  'STOPPED',
] as const

export interface FollowingStatus {
  /**
   * STANDBY: another process on the database follows the nodes. UNREADABLE: a node returns an unreadable response about a slot, and
   * the request is retried. STOPPED: a node contradicted the committed ledger, and nothing is followed until the program is
   * restarted.
   */
  readonly state: (typeof followingStates)[number]
  /** The number in the list, from 1, of the node that was queried last; `undefined` when no node responds. */
  readonly node: number | undefined
  /** Whether that node reports itself healthy. */
  readonly isNodeHealthy: boolean
  /** The newest slot of that node that can be followed; `undefined` when no node responds. */
  readonly newestSlot: SlotIndex | undefined
  /** Whether each output is checked against its proof. */
  readonly withProofs: boolean
  /** Why following stopped. */
  readonly contradiction: Contradiction | undefined
  readonly unreadable: AnswerUnreadable | undefined
}
