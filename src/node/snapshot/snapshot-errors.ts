import type { Hex } from '../../lib/hex.ts'
import type { CommitmentId, OutputId, SlotIndex } from '../../protocol/primitives.ts'

/** Why a database does not begin with a snapshot. */

/** What is wrong with a snapshot itself. */
export type SnapshotInvalid =
  | SnapshotLineWrong
  | SnapshotFileWrong
  | SnapshotOfGenesisSlot
  | SnapshotRootDiffers
  | SnapshotOutputUnproved
  | SnapshotSupplyDiffers

/**
 * A line cannot be read, of another version too; its check does not fit; its rows are out of order, or mean nothing; or the lines
 * end before the snapshot does.
 */
export interface SnapshotLineWrong {
  readonly code:
    | 'SNAPSHOT_MALFORMED'
    | 'SNAPSHOT_DAMAGED'
    | 'SNAPSHOT_ROWS_WRONG'
    | 'SNAPSHOT_ENDED_EARLY'
  /** From 1, counted from where the reading began. */
  readonly line: number
}

/** Bytes of a snapshot file of iota-core mean nothing, or are out of order. */
export interface SnapshotFileWrong {
  readonly code: 'SNAPSHOT_FILE_MALFORMED'
  /** The part of the file, as docs/iota-core-snapshot.md names it. */
  readonly part: string
  readonly offset: number
  readonly reason: string
}

/** A snapshot file of iota-core is that of the genesis slot, whose commitment has no roots. */
export interface SnapshotOfGenesisSlot {
  readonly code: 'SNAPSHOT_OF_GENESIS'
}

/** What it holds has another root than its commitment names: that over the roots, of unspent outputs, or of accounts. */
export interface SnapshotRootDiffers {
  readonly code: 'SNAPSHOT_ROOT_DIFFERS'
  readonly root: 'ROOTS_ID' | 'STATE' | 'ACCOUNTS'
  readonly computed: Hex
  readonly named: Hex
}

/** No proof leads from the contents of an output to its id. */
export interface SnapshotOutputUnproved {
  readonly code: 'SNAPSHOT_OUTPUT_UNPROVED'
  readonly outputId: OutputId
}

/** Its outputs hold more or fewer base tokens than there are. */
export interface SnapshotSupplyDiffers {
  readonly code: 'SNAPSHOT_SUPPLY_DIFFERS'
  readonly computed: bigint
  readonly supply: bigint
}

/** The followed nodes have another commitment for its slot, or none. */
export interface SnapshotCommitmentDiffers {
  readonly code: 'SNAPSHOT_COMMITMENT_DIFFERS'
  readonly slot: SlotIndex
  readonly computed: CommitmentId
  readonly served: CommitmentId | undefined
}

/** The followed nodes are of another network, or have other parameters. */
export interface SnapshotOfAnotherNetwork {
  readonly code: 'SNAPSHOT_OF_ANOTHER_NETWORK'
}

/** The file or the gateway gives no snapshot; a part may be here. */
export interface SnapshotAway {
  readonly code: 'SNAPSHOT_AWAY'
  readonly reason: string
}

/** The process is to end; what came is here. */
export interface SnapshotInterrupted {
  readonly code: 'SNAPSHOT_INTERRUPTED'
}

/** A part of a snapshot is in the database, and the settings name none. */
export interface SnapshotUnfinished {
  readonly code: 'SNAPSHOT_UNFINISHED'
}
