import type { Hex } from '../lib/hex.ts'
import type {
  AccountId,
  CommitmentId,
  EpochIndex,
  FoundryId,
  OutputId,
  SlotIndex,
} from '../protocol/primitives.ts'
import { type FailureReason, failureReasonNumbers } from './failure-reasons.ts'

/**
 * Why a transaction cannot be booked. The codes are the published failure reasons. `input` and `output` are indices into the
 * transaction's lists.
 */
export type TransactionError =
  | ReferenceError
  | UnlockError
  | BalanceError
  | ManaError
  | ChainError
  | AccountError
  | StakingError
  | FoundryError
  | DelegationError

/** An output, a commitment or an account that the transaction refers to is missing or spent (ledger reference 3.3). */
export type ReferenceError =
  | AtInput<'CONFLICT_REJECTED' | 'ORPHANED' | 'INPUT_ALREADY_SPENT', { outputId: OutputId }>
  | Fact<'COMMITMENT_INPUT_REFERENCE_INVALID', { commitmentId: CommitmentId }>
  | Fact<'BIC_INPUT_REFERENCE_INVALID', { accountId: AccountId }>
  | AtInput<
      | 'REWARD_INPUT_REFERENCE_INVALID'
      | 'STAKING_REWARD_CALCULATION_FAILURE'
      | 'DELEGATION_REWARD_CALCULATION_FAILURE'
    >

/** A required unlock is missing, or a lock is not over (ledger reference 4, 5.1, 5.2). */
export type UnlockError =
  | AtInput<
      | 'UNLOCK_SIGNATURE_INVALID'
      | 'CHAIN_ADDRESS_UNLOCK_INVALID'
      | 'DIRECT_UNLOCKABLE_ADDRESS_UNLOCK_INVALID'
      | 'MULTI_ADDRESS_UNLOCK_INVALID'
      | 'TIMELOCK_COMMITMENT_INPUT_MISSING'
      | 'EXPIRATION_COMMITMENT_INPUT_MISSING'
    >
  | AtInput<'MULTI_ADDRESS_LENGTH_UNLOCK_LENGTH_MISMATCH', { members: number; unlocks: number }>
  | AtInput<'MULTI_ADDRESS_UNLOCK_THRESHOLD_NOT_REACHED', { threshold: number; reached: number }>
  | AtInput<'TIMELOCK_NOT_EXPIRED', { until: SlotIndex }>
  | AtInput<'EXPIRATION_NOT_UNLOCKABLE', { expirationSlot: SlotIndex }>
  | AtOutput<'SENDER_FEATURE_NOT_UNLOCKED' | 'ISSUER_FEATURE_NOT_UNLOCKED'>

/** Base tokens, storage deposits or native tokens do not balance (ledger reference 5.3, 5.4). */
export type BalanceError =
  | Fact<'INPUT_OUTPUT_BASE_TOKEN_MISMATCH', { inputs: bigint; outputs: bigint }>
  | Fact<
      'RETURN_AMOUNT_NOT_FUL_FILLED',
      {
        /** Bytes of the return address. A multi address is given by its reference. */
        returnAddress: Hex
        due: bigint
        returned: bigint
      }
    >
  | Fact<'NATIVE_TOKEN_SUM_UNBALANCED', { tokenId: FoundryId; inputs: bigint; outputs: bigint }>
  /** A sum of native tokens above 2^256 - 1. This rule has no failure reason of its own. */
  | Fact<'SEMANTIC_VALIDATION_FAILED', { tokenId: FoundryId }>

/** Mana does not balance (ledger reference 7). */
export type ManaError =
  | AtInput<'INPUT_CREATION_AFTER_TX_CREATION', { createdSlot: SlotIndex }>
  | AtInput<
      'MANA_DECAY_CREATION_INDEX_EXCEEDS_TARGET_INDEX',
      { createdSlot: SlotIndex; targetSlot: SlotIndex }
    >
  | Fact<'MANA_OVERFLOW', { side: 'INPUTS' | 'OUTPUTS' }>
  | Fact<'INPUT_OUTPUT_MANA_MISMATCH', { inputs: bigint; outputs: bigint }>
  | Fact<'CAPABILITIES_MANA_BURNING_NOT_ALLOWED', { burned: bigint }>

/** The beginning, change or end of a chain breaks a rule that all chains share, or a rule of NFTs or anchors. */
export type ChainError =
  | AtOutput<
      | 'NEW_CHAIN_OUTPUT_HAS_NON_ZEROED_ID'
      | 'CHAIN_OUTPUT_IMMUTABLE_FEATURES_CHANGED'
      | 'ANCHOR_INVALID_STATE_TRANSITION'
      | 'ANCHOR_INVALID_GOVERNANCE_TRANSITION'
    >
  | AtInput<
      | 'CAPABILITIES_ACCOUNT_DESTRUCTION_NOT_ALLOWED'
      | 'CAPABILITIES_ANCHOR_DESTRUCTION_NOT_ALLOWED'
      | 'CAPABILITIES_FOUNDRY_DESTRUCTION_NOT_ALLOWED'
      | 'CAPABILITIES_NFT_DESTRUCTION_NOT_ALLOWED'
    >
  /** The state index of an anchor jumps. This rule has no failure reason of its own. */
  | AtInput<'SEMANTIC_VALIDATION_FAILED'>

/** The beginning, change or end of an account, implicit or not, breaks a rule (ledger reference 6.2, 6.3). */
export type AccountError =
  | AtInput<
      | 'IMPLICIT_ACCOUNT_DESTRUCTION_DISALLOWED'
      | 'MULTIPLE_IMPLICIT_ACCOUNT_CREATION_ADDRESSES'
      | 'BLOCK_ISSUER_NOT_EXPIRED'
    >
  | AtOutput<'ACCOUNT_INVALID_FOUNDRY_COUNTER', { foundryCounter: number; expected: number }>
  | Fact<
      'BLOCK_ISSUER_COMMITMENT_INPUT_MISSING' | 'BLOCK_ISSUANCE_CREDIT_INPUT_MISSING',
      { accountId: AccountId }
    >
  | Fact<'ACCOUNT_LOCKED', { accountId: AccountId; credits: bigint }>
  | AtOutput<'BLOCK_ISSUER_EXPIRY_TOO_EARLY', { expirySlot: SlotIndex; earliest: SlotIndex }>
  | AtOutput<'MANA_MOVED_OFF_BLOCK_ISSUER_ACCOUNT', { moved: bigint }>

/** The beginning, change or end of a stake breaks a rule (ledger reference 6.4). */
export type StakingError =
  | AtInput<
      | 'STAKING_REWARD_INPUT_MISSING'
      | 'STAKING_REWARD_CLAIMING_INVALID'
      | 'STAKING_FEATURE_MODIFIED_BEFORE_UNBONDING'
    >
  | AtInput<'STAKING_FEATURE_REMOVED_BEFORE_UNBONDING', { endEpoch: EpochIndex }>
  | Fact<'STAKING_COMMITMENT_INPUT_MISSING', { accountId: AccountId }>
  | AtOutput<'STAKING_START_EPOCH_INVALID', { startEpoch: EpochIndex; expected: EpochIndex }>
  | AtOutput<'STAKING_END_EPOCH_TOO_EARLY', { endEpoch: EpochIndex; earliest: EpochIndex }>

/** The beginning, change or end of a foundry breaks a rule (ledger reference 6.5). */
export type FoundryError =
  | AtOutput<
      | 'FOUNDRY_TRANSITION_WITHOUT_ACCOUNT'
      | 'SIMPLE_TOKEN_SCHEME_MAXIMUM_SUPPLY_CHANGED'
      | 'SIMPLE_TOKEN_SCHEME_MINTED_MELTED_TOKEN_DECREASE'
    >
  | AtOutput<'FOUNDRY_SERIAL_INVALID', { serialNumber: number }>
  | AtOutput<
      | 'SIMPLE_TOKEN_SCHEME_GENESIS_INVALID'
      | 'SIMPLE_TOKEN_SCHEME_MINTING_INVALID'
      | 'SIMPLE_TOKEN_SCHEME_MELTING_INVALID'
      /** The counters change and the tokens do not. This rule has no failure reason of its own. */
      | 'SEMANTIC_VALIDATION_FAILED',
      { tokensIn: bigint; tokensOut: bigint }
    >

/** The beginning, change or end of a delegation breaks a rule (ledger reference 6.7). */
export type DelegationError =
  | AtInput<'DELEGATION_REWARD_INPUT_MISSING' | 'DELEGATION_REWARDS_CLAIMING_INVALID'>
  | AtOutput<
      | 'DELEGATION_COMMITMENT_INPUT_MISSING'
      | 'DELEGATION_OUTPUT_TRANSITIONED_TWICE'
      | 'DELEGATION_MODIFIED'
      | 'DELEGATION_END_EPOCH_NOT_ZERO'
    >
  | AtOutput<'DELEGATION_START_EPOCH_INVALID', { startEpoch: EpochIndex; expected: EpochIndex }>
  | AtOutput<'DELEGATION_AMOUNT_MISMATCH', { delegatedAmount: bigint; amount: bigint }>
  | AtOutput<'DELEGATION_END_EPOCH_INVALID', { endEpoch: EpochIndex; expected: EpochIndex }>

/** The published number of a failure (ledger reference 8). */
export function failureReasonOf(error: TransactionError): number {
  return failureReasonNumbers[error.code]
}

type Fact<Code extends FailureReason, Fields = unknown> = { readonly code: Code } & Readonly<Fields>
type AtInput<Code extends FailureReason, Fields = unknown> = Fact<Code, Fields> & {
  readonly input: number
}
type AtOutput<Code extends FailureReason, Fields = unknown> = Fact<Code, Fields> & {
  readonly output: number
}
