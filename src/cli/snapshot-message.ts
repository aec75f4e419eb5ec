import type {
  SnapshotAway,
  SnapshotCommitmentDiffers,
  SnapshotInterrupted,
  SnapshotInvalid,
  SnapshotOfAnotherNetwork,
  SnapshotRootDiffers,
  SnapshotUnfinished,
} from '../node/snapshot/snapshot-errors.ts'

/** The message for an invalid snapshot; it starts with the error code. */
export function snapshotMessage(
  error:
    | SnapshotInvalid
    | SnapshotCommitmentDiffers
    | SnapshotOfAnotherNetwork
    | SnapshotAway
    | SnapshotInterrupted
    | SnapshotUnfinished,
): string {
  return `${error.code}: ${sentence(error)}`
}

function sentence(error: Parameters<typeof snapshotMessage>[0]): string {
  switch (error.code) {
    case 'SNAPSHOT_MALFORMED':
      return `line ${error.line} is not a line of a snapshot of this version`
    case 'SNAPSHOT_DAMAGED':
      return `the checksum of line ${error.line} of the snapshot does not match; fetch the snapshot again`
    case 'SNAPSHOT_ROWS_WRONG':
      return `line ${error.line} of the snapshot has invalid rows or rows out of order`
    case 'SNAPSHOT_FILE_MALFORMED':
      return `byte ${error.offset} of the file, in the part "${error.part}": ${error.reason}`
    case 'SNAPSHOT_OF_GENESIS':
      return 'the file is a snapshot of the genesis slot, whose commitment covers no outputs; name it with --genesis-file instead of --snapshot'
    case 'SNAPSHOT_ENDED_EARLY':
      return `the snapshot ends before line ${error.line}; the complete snapshot is needed to continue`
    case 'SNAPSHOT_ROOT_DIFFERS':
      return `${roots[error.root]} of the snapshot is ${error.computed}, but its commitment names ${error.named}`
    case 'SNAPSHOT_OUTPUT_UNPROVED':
      return `the proof of output ${error.outputId} does not connect its contents to its id; UPSTREAM_PROOFS=off skips the check`
    case 'SNAPSHOT_SUPPLY_DIFFERS':
      return `the outputs of the snapshot hold ${error.computed} base tokens, but the supply is ${error.supply}`
    case 'SNAPSHOT_COMMITMENT_DIFFERS':
      return `the commitment of the snapshot is ${error.computed}, but for slot ${error.slot} the nodes in UPSTREAM_URLS have ${error.served ?? 'no commitment'}`
    case 'SNAPSHOT_OF_ANOTHER_NETWORK':
      return 'the nodes in UPSTREAM_URLS have other protocol parameters than the snapshot'
    case 'SNAPSHOT_AWAY':
      return `the snapshot cannot be read: ${error.reason}`
    case 'SNAPSHOT_INTERRUPTED':
      return 'the start was interrupted; the next start continues with the snapshot'
    case 'SNAPSHOT_UNFINISHED':
      return 'the database holds an incomplete snapshot; name the snapshot with --snapshot, or choose another database'
  }
}

const roots: Readonly<Record<SnapshotRootDiffers['root'], string>> = {
  ROOTS_ID: 'the roots id',
  STATE: 'the state root (over the unspent outputs)',
  ACCOUNTS: 'the account root',
}
