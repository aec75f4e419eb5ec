import type { Hex } from '../lib/hex.ts'
import type { CommitmentId, OutputId } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'

/** Proofs that an output is unspent in the newest commitment. */

/** The newest commitment and its roots. */
export interface CommittedRoots {
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the commitment; its id is their hash. */
  readonly commitment: Hex
  /** The eight roots that the roots id of the commitment is computed from, in order. The third is the root of all unspent outputs. */
  readonly roots: readonly Hex[]
}

/** The hashes that lead from the id of an unspent output to the id of a commitment. */
export interface UnspentProof extends CommittedRoots {
  /** The roots beside the path from the top of the trie to the output, by depth; zeros for an empty subtree. */
  readonly beside: readonly Hex[]
}

/** Creates proofs from a reader. All reads for a proof must come from one snapshot. */
export interface UnspentProofs {
  /** `undefined` when the roots are unknown or differ from the roots of the newest slot. */
  roots(read: StoreReader): Promise<CommittedRoots | undefined>
  /** `undefined` for an output that is not unspent in the commitment; `NOT_READY` when the reads did not come from one snapshot. */
  prove(
    read: StoreReader,
    committed: CommittedRoots,
    outputId: OutputId,
  ): Promise<UnspentProof | 'NOT_READY' | undefined>
}
