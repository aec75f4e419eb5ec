import type { CommitmentId, OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'

/**
 * A response of a node that contradicts the committed ledger in the database. Following then stops: the database stays unchanged,
 * and an operator has to find out which side is right.
 */
export type Contradiction =
  | CommitmentOfAnotherChain
  | CommitmentIdWrong
  | OutputNotNew
  | OutputNotKnown
  | OutputSpentBefore
  | OutputDiffers
  | OutputProofWrong
  | OutputPlaceWrong
  | BaseTokensUnbalanced

/** The node's commitment does not follow, or is not equal to, the commitment in the database. */
export interface CommitmentOfAnotherChain {
  readonly code: 'COMMITMENT_OF_ANOTHER_CHAIN'
  readonly slot: SlotIndex
  /** The id in the database: of the previous slot, or of the slot itself if that is committed. */
  readonly expected: CommitmentId
  readonly told: CommitmentId
}

/** The node reports a commitment id that is not the hash of the commitment. */
export interface CommitmentIdWrong {
  readonly code: 'COMMITMENT_ID_WRONG'
  readonly slot: SlotIndex
  readonly computed: CommitmentId
  readonly told: CommitmentId
}

/** The slot creates an output that already exists. */
export interface OutputNotNew {
  readonly code: 'OUTPUT_NOT_NEW'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The slot spends an output that does not exist. */
export interface OutputNotKnown {
  readonly code: 'OUTPUT_NOT_KNOWN'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The slot spends an output that is already spent. */
export interface OutputSpentBefore {
  readonly code: 'OUTPUT_SPENT_BEFORE'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The node serves an output with different contents than before. */
export interface OutputDiffers {
  readonly code: 'OUTPUT_DIFFERS'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The proof does not show that the output has its id. */
export interface OutputProofWrong {
  readonly code: 'OUTPUT_PROOF_WRONG'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The metadata of an output does not match the slot that creates or spends it. */
export interface OutputPlaceWrong {
  readonly code: 'OUTPUT_PLACE_WRONG'
  readonly slot: SlotIndex
  readonly outputId: OutputId
  /** The transaction in the metadata; `undefined` if the metadata names none. */
  readonly transactionId: TransactionId | undefined
}

/** The sum of the spent outputs differs from the sum of the created outputs, which no transaction can cause. */
export interface BaseTokensUnbalanced {
  readonly code: 'BASE_TOKENS_UNBALANCED'
  readonly slot: SlotIndex
  readonly created: bigint
  readonly consumed: bigint
}
