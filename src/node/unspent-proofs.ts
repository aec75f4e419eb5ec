import type { Hex } from '../lib/hex.ts'
import type { CommitmentId, OutputId } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'

/** Proofs that the newest commitment has an output among the unspent ones. */

/** The newest commitment and what is behind it. */
export interface CommittedRoots {
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the commitment, of which its id is the hash. */
  readonly commitment: Hex
  /** The eight roots behind the roots id of the commitment, in their order; the third is that of the state, all unspent outputs. */
  readonly roots: readonly Hex[]
}

/** What leads from the id of an unspent output to the id of a commitment. */
export interface UnspentProof extends CommittedRoots {
  /** The roots beside the way from the top of the trie to the output, by depth; zeros where there is nothing. */
  readonly beside: readonly Hex[]
}

/** Makes proofs from a reader; all reads for one have to be of one moment. */
export interface UnspentProofs {
  /** `undefined` where the roots are not known or not those of the newest slot. */
  roots(read: StoreReader): Promise<CommittedRoots | undefined>
  /** `undefined` for an output that is not unspent there; `NOT_READY` where the reads were not of one moment. */
  prove(
    read: StoreReader,
    committed: CommittedRoots,
    outputId: OutputId,
  ): Promise<UnspentProof | 'NOT_READY' | undefined>
}
