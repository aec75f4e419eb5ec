import type { CommitmentId, OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'

/**
 * An answer of a node that contradicts what is committed here. The following stops then: the database keeps what it has,
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

/** The commitment to the slot does not follow the one that is committed here, or is another one than that. */
export interface CommitmentOfAnotherChain {
  readonly code: 'COMMITMENT_OF_ANOTHER_CHAIN'
  readonly slot: SlotIndex
  /** Of the slot before, or of the slot itself where it is committed here. */
  readonly expected: CommitmentId
  readonly told: CommitmentId
}

/** The node gives a commitment an id that is not the hash of its contents. */
export interface CommitmentIdWrong {
  readonly code: 'COMMITMENT_ID_WRONG'
  readonly slot: SlotIndex
  readonly computed: CommitmentId
  readonly told: CommitmentId
}

/** The slot creates an output that exists already. */
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

/** The slot spends an output that was spent before. */
export interface OutputSpentBefore {
  readonly code: 'OUTPUT_SPENT_BEFORE'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The node serves other contents of an output than before. */
export interface OutputDiffers {
  readonly code: 'OUTPUT_DIFFERS'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The proof does not lead from the output to its id. */
export interface OutputProofWrong {
  readonly code: 'OUTPUT_PROOF_WRONG'
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The metadata of an output does not fit the slot that creates or spends it. */
export interface OutputPlaceWrong {
  readonly code: 'OUTPUT_PLACE_WRONG'
  readonly slot: SlotIndex
  readonly outputId: OutputId
  /** The transaction in that metadata; `undefined` where it names none. */
  readonly transactionId: TransactionId | undefined
}

/** The slot spends another sum than it creates, which no transaction can. */
export interface BaseTokensUnbalanced {
  readonly code: 'BASE_TOKENS_UNBALANCED'
  readonly slot: SlotIndex
  readonly created: bigint
  readonly consumed: bigint
}
