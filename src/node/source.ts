import type { Hex } from '../lib/hex.ts'
import type { Result } from '../lib/result.ts'
import type { Block } from '../protocol/block.ts'
import type { OutputIdProof, SlotCommitment } from '../protocol/commitment.ts'
import type { Network } from '../protocol/network.ts'
import type { OutputMetadata, TransactionMetadata } from '../protocol/node-answers.ts'
import type {
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../protocol/primitives.ts'
import type { Schema } from '../protocol/schema/schema.ts'
import type { Payload } from '../protocol/transaction.ts'
import type { BlockRow, TransactionRow } from '../store/rows.ts'
import type { Contradiction } from './contradiction.ts'
import type { HealthReason } from './health-reasons.ts'
import type { LeaderStatus } from './leader-election.ts'
import type { PreparedTransaction } from './prepared-transaction.ts'
import type { SnapshotHead } from './snapshot/snapshot-format.ts'
import type { AnswerUnreadable } from './unreadable.ts'
import type { UnspentProofs } from './unspent-proofs.ts'

/** The interface of a ledger: one that this program keeps, or that of the nodes it follows. */

/** A ledger that takes blocks. */
export interface LedgerSource {
  readonly network: Network
  /** Takes a block that has passed all checks; resolves when it is durable, or a node has accepted it. */
  submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>>
  /** Why no block can be taken now; `undefined` while they can. */
  unavailable(): LedgerUnavailable | undefined
  /** What a client needs to issue a block now. */
  issuance(): Promise<Result<Issuance, LedgerUnavailable>>
  /** Makes and signs a block around a payload with the node's own issuer account. */
  issue(
    payload: Payload | undefined,
  ): Promise<Result<Block, IssuerNotConfigured | LedgerUnavailable>>
  status(): SourceStatus
  /** Makes the head of a snapshot of the newest slot; `undefined` where nodes keep the ledger, and with it the accounts. */
  readonly snapshotHead: (() => Promise<Result<SnapshotHead, SnapshotNotReady>>) | undefined
  /** Proves unspent outputs by the newest commitment; `undefined` where nodes keep the ledger, and with it the roots. */
  readonly unspentProofs: UnspentProofs | undefined
  /** How many blocks wait for the disk; 0 in upstream mode. */
  waiting(): number
  /** Serves what is not in the database, in upstream mode; `undefined` in embedded mode. */
  readonly node: UpstreamNode | undefined
  close(): Promise<void>
}

/** No slot is committed yet, or the tries behind the roots of the newest one are being built. */
export interface SnapshotNotReady {
  readonly code: 'SNAPSHOT_NOT_READY'
}

/** The nodes of upstream mode, which serve what is not in the database. */
export interface UpstreamNode {
  /** A block, checked by its id; `undefined` where the node does not know it. Stored when it is final. */
  block(id: BlockId): Promise<Result<BlockRow | undefined, NotServedByNode>>
  /** A transaction with the block that carries it, checked by their ids. Stored when it is final. */
  transaction(id: TransactionId): Promise<Result<CarriedTransaction | undefined, NotServedByNode>>
  /** The state of a transaction, also of one whose block is not served. */
  transactionMetadata(
    id: TransactionId,
  ): Promise<Result<TransactionMetadata | undefined, NotServedByNode>>
  /** The hash of the essence of a transaction one of whose outputs was recently proven. */
  transactionCommitment(id: TransactionId): Hex | undefined
  /** The proof of an output, checked. */
  proof(outputId: OutputId, output: Uint8Array): Promise<OutputIdProof | undefined>
  /** The node's metadata of an output, which has more than the log. */
  outputMetadata(id: OutputId): Promise<OutputMetadata | undefined>
  /** The answer to a route of the core API, by its path after the base; `undefined` where the node has nothing. */
  fetch<T>(path: string, schema: Schema<T>): Promise<Result<T | undefined, NotServedByNode>>
}

/** A transaction, and the block that it is read from. */
export interface CarriedTransaction {
  readonly transaction: TransactionRow
  readonly block: BlockRow
}

/** The node does not serve this, or does not answer now. */
export interface NotServedByNode {
  readonly code: 'NOT_TOLD_BY_NODE'
  /** In words. */
  readonly what: string
  /** Of an unreadable answer: what is wrong with it, in words. */
  readonly unreadable?: string
}

/** A checked block with what the checks computed. */
export interface CheckedBlock {
  readonly block: Block
  /** As it came, or as its JSON serializes. */
  readonly bytes: Uint8Array
  readonly blockId: BlockId
  readonly slot: SlotIndex
  /** Of a block that carries a transaction. */
  readonly transaction: PreparedTransaction | undefined
}

/** Why a checked block was not taken. */
export type SubmitRefused = SlotClosed | InboxFull | LedgerUnavailable | RefusedByNode

/** The slot of the block is committed already. */
export interface SlotClosed {
  readonly code: 'SLOT_CLOSED'
  readonly slot: SlotIndex
}

/** More blocks wait for the disk than the inbox holds. */
export interface InboxFull {
  readonly code: 'INBOX_FULL'
  readonly waiting: number
}

/** The node refused the block; the reason is in its words. */
export interface RefusedByNode {
  readonly code: 'REFUSED_BY_NODE'
  readonly reason: string
}

/**
 * The ledger cannot take blocks now: it lags the clock, or the clock lags it, the clock leapt ahead and may be wrong, another
 * process has the file, this one ends, or no node takes them.
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

/** The node has no account of its own to issue blocks with. */
export interface IssuerNotConfigured {
  readonly code: 'ISSUER_NOT_CONFIGURED'
}

/** What a block issued now should refer to. */
export interface Issuance {
  readonly strongParents: readonly BlockId[]
  /** Unix time in nanoseconds; a block must be issued after it. */
  readonly latestParentBlockIssuingTime: bigint
  readonly latestFinalizedSlot: SlotIndex
  /** Older than the newest by a slot, for clients whose clock is behind. */
  readonly latestCommitment: SlotCommitment
}

/** The state of the ledger. */
export interface SourceStatus extends LeaderStatus {
  /** Why the process cannot do its work; none while it can. */
  readonly reasons: readonly HealthReason[]
  /** Why no block can be taken now, one of `reasons`; `undefined` while they can, also where there are other reasons. */
  readonly unavailable: LedgerUnavailable['reason'] | undefined
  readonly latestCommitmentId: CommitmentId
  readonly latestCommittedSlot: SlotIndex
  /** The slot of this moment. */
  readonly slot: SlotIndex
  /** In embedded mode what a process that has the lease does before it writes; `undefined` while it writes, or has no lease. */
  readonly starting: Starting | undefined
  /** The state of the following in upstream mode; `undefined` in embedded mode. */
  readonly following: FollowingStatus | undefined
}

/** What a process does before it writes, and how far it is. */
export interface Starting {
  readonly step: (typeof startingSteps)[number]
  /** Outputs that are in the tries, or slots that are committed; 0 of 0 where it is not known. */
  readonly done: number
  readonly of: number
}

/** What a process does before it writes, in this order. */
export const startingSteps = ['READING_LEDGER', 'BUILDING_TRIES', 'COMMITTING_SLOTS'] as const

/** The states of the following. */
export const followingStates = [
  'STANDBY',
  'CATCHING_UP',
  'FOLLOWING',
  'NODES_AWAY',
  'UNREADABLE',
  'STOPPED',
] as const

/** The state of the following. */
export interface FollowingStatus {
  /**
   * STANDBY: another process on the database follows. UNREADABLE: a node gives an unreadable answer about a slot, and is
   * asked again and again. STOPPED: a node contradicted what is committed here, and nothing is followed until the program
   * is restarted.
   */
  readonly state: (typeof followingStates)[number]
  /** The number in the list of the node that was asked last, from 1; `undefined` where none answers. */
  readonly node: number | undefined
  /** Whether that node reports itself healthy. */
  readonly isNodeHealthy: boolean
  /** The newest slot of that node which can be followed; `undefined` where none answers. */
  readonly newestSlot: SlotIndex | undefined
  /** Whether each output is checked against its proof. */
  readonly withProofs: boolean
  /** Why it stopped. */
  readonly contradiction: Contradiction | undefined
  /** What cannot be read. */
  readonly unreadable: AnswerUnreadable | undefined
}
