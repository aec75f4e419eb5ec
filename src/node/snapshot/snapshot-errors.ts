import type { Hex } from '../../lib/hex.ts'
import type { CommitmentId, OutputId, SlotIndex } from '../../protocol/primitives.ts'

/** The errors of initializing a database from a snapshot. */

/** Faults of the snapshot itself. */
export type SnapshotInvalid =
  | SnapshotLineWrong
  | SnapshotFileWrong
  | SnapshotOfGenesisSlot
  | SnapshotRootDiffers
  | SnapshotOutputUnproved
  | SnapshotSupplyDiffers

/**
 * A line is malformed or has another version; its check is wrong; its rows are out of order or invalid; or the lines end before the
 * snapshot does.
 */
export interface SnapshotLineWrong {
  readonly code:
    | 'SNAPSHOT_MALFORMED'
    | 'SNAPSHOT_DAMAGED'
    | 'SNAPSHOT_ROWS_WRONG'
    | 'SNAPSHOT_ENDED_EARLY'
  /** From 1, counted from the point where reading began. */
  readonly line: number
}

/** Bytes of a snapshot file of iota-core are invalid or out of order. */
export interface SnapshotFileWrong {
  readonly code: 'SNAPSHOT_FILE_MALFORMED'
  /** The name of the part of the file, as in docs/iota-core-snapshot.md. */
  readonly part: string
  readonly offset: number
  readonly reason: string
}

/** The snapshot file of iota-core is a snapshot of the genesis slot, whose commitment has no roots. */
export interface SnapshotOfGenesisSlot {
  readonly code: 'SNAPSHOT_OF_GENESIS'
}

/** A computed root differs from the root that the commitment names: the roots id, the root of unspent outputs, or of accounts. */
export interface SnapshotRootDiffers {
  readonly code: 'SNAPSHOT_ROOT_DIFFERS'
  readonly root: 'ROOTS_ID' | 'STATE' | 'ACCOUNTS'
  readonly computed: Hex
  readonly named: Hex
}

/** The proof of an output is missing or does not prove its content. */
export interface SnapshotOutputUnproved {
  readonly code: 'SNAPSHOT_OUTPUT_UNPROVED'
  readonly outputId: OutputId
}

/** The sum of the outputs differs from the token supply. */
export interface SnapshotSupplyDiffers {
  readonly code: 'SNAPSHOT_SUPPLY_DIFFERS'
  readonly computed: bigint
  readonly supply: bigint
}

/** The followed nodes have another commitment for the slot, or none. */
export interface SnapshotCommitmentDiffers {
  readonly code: 'SNAPSHOT_COMMITMENT_DIFFERS'
  readonly slot: SlotIndex
  readonly computed: CommitmentId
  readonly served: CommitmentId | undefined
}

/** The followed nodes belong to another network, or have other parameters. */
export interface SnapshotOfAnotherNetwork {
  readonly code: 'SNAPSHOT_OF_ANOTHER_NETWORK'
}

/** The file or the gateway is unavailable. A part of the snapshot may be in the database. */
export interface SnapshotAway {
  readonly code: 'SNAPSHOT_AWAY'
  readonly reason: string
}

/** The process is stopping. The received part is in the database. */
export interface SnapshotInterrupted {
  readonly code: 'SNAPSHOT_INTERRUPTED'
}

/** A part of a snapshot is in the database, and the settings name no snapshot. */
export interface SnapshotUnfinished {
  readonly code: 'SNAPSHOT_UNFINISHED'
}
