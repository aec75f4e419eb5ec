import type { Result } from '../lib/result.ts'
import type { Block } from '../protocol/block.ts'
import type { SlotCommitment } from '../protocol/commitment.ts'
import type { Network } from '../protocol/network.ts'
import type { BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { Payload } from '../protocol/transaction.ts'
import type { InboxFull } from './embedded/inbox.ts'
import type { PreparedTransaction } from './prepared-transaction.ts'

/** Where the ledger comes from: one inside this process, or a node behind it. */

/** A ledger that takes blocks. */
export interface LedgerSource {
  readonly network: Network
  /** Keeps a block that has passed all checks; answers when it is durable. */
  submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>>
  /** Why no block can be kept now; `undefined` while they can. */
  unavailable(): LedgerUnavailable | undefined
  /** What a client needs to issue a block now. */
  issuance(): Promise<Issuance>
  /** Makes and signs a block around a payload with the node's own issuer account. */
  issue(payload: Payload | undefined): Promise<Result<Block, IssuerNotConfigured>>
  status(): SourceStatus
  close(): Promise<void>
}

/** A block with everything that was computed while it was checked. */
export interface CheckedBlock {
  readonly block: Block
  /** As it came, or as its JSON serializes. */
  readonly bytes: Uint8Array
  readonly blockId: BlockId
  readonly slot: SlotIndex
  /** Of a block that carries a transaction. */
  readonly transaction: PreparedTransaction | undefined
}

/** Why a checked block was not kept. */
export type SubmitRefused = SlotClosed | InboxFull | LedgerUnavailable

/** The slot of the block is committed already. */
export interface SlotClosed {
  readonly code: 'SLOT_CLOSED'
  readonly slot: SlotIndex
}

/** The ledger cannot take blocks now: it is catching up, or another process writes it. */
export interface LedgerUnavailable {
  readonly code: 'LEDGER_UNAVAILABLE'
  readonly reason: 'STARTING' | 'LEASE_LOST' | 'CLOSING'
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

/** How the ledger is. */
export interface SourceStatus {
  readonly isHealthy: boolean
  readonly latestCommitmentId: CommitmentId
  readonly latestCommittedSlot: SlotIndex
  /** The slot of this moment. */
  readonly slot: SlotIndex
}
