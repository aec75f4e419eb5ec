import type {
  SnapshotAway,
  SnapshotCommitmentDiffers,
  SnapshotInterrupted,
  SnapshotInvalid,
  SnapshotOfAnotherNetwork,
  SnapshotRootDiffers,
  SnapshotUnfinished,
} from '../node/snapshot/snapshot-errors.ts'

/** What is wrong with a snapshot, as a sentence that begins with its code. */
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
      return `line ${error.line} is no line of a snapshot of this version`
    case 'SNAPSHOT_DAMAGED':
      return `line ${error.line} of the snapshot does not have its check; fetch it anew`
    case 'SNAPSHOT_ROWS_WRONG':
      return `line ${error.line} of the snapshot has rows out of order or without meaning`
    case 'SNAPSHOT_FILE_MALFORMED':
      return `byte ${error.offset} of the file, in its part "${error.part}": ${error.reason}`
    case 'SNAPSHOT_OF_GENESIS':
      return 'the file is that of the genesis slot, whose commitment stands for no output; name it with --genesis-file in place of --snapshot'
    case 'SNAPSHOT_ENDED_EARLY':
      return `the snapshot ends before line ${error.line}; give the whole to go on`
    case 'SNAPSHOT_ROOT_DIFFERS':
      return `${roots[error.root]} of the snapshot is ${error.computed}; its commitment names ${error.named}`
    case 'SNAPSHOT_OUTPUT_UNPROVED':
      return `no proof leads from the contents of output ${error.outputId} to its id; UPSTREAM_PROOFS=off believes them`
    case 'SNAPSHOT_SUPPLY_DIFFERS':
      return `the outputs of the snapshot hold ${error.computed} base tokens, the supply is ${error.supply}`
    case 'SNAPSHOT_COMMITMENT_DIFFERS':
      return `the snapshot is of ${error.computed}; for slot ${error.slot} the nodes in UPSTREAM_URLS have ${error.served ?? 'no commitment'}`
    case 'SNAPSHOT_OF_ANOTHER_NETWORK':
      return 'the nodes in UPSTREAM_URLS have other protocol parameters than the snapshot'
    case 'SNAPSHOT_AWAY':
      return `the snapshot cannot be read: ${error.reason}`
    case 'SNAPSHOT_INTERRUPTED':
      return 'the start was interrupted; the next one goes on with the snapshot'
    case 'SNAPSHOT_UNFINISHED':
      return 'the database holds a part of a snapshot; name the snapshot with --snapshot, or choose another database'
  }
}

const roots: Readonly<Record<SnapshotRootDiffers['root'], string>> = {
  ROOTS_ID: 'the root over the roots',
  STATE: 'the state root, over the unspent outputs,',
  ACCOUNTS: 'the account root',
}
