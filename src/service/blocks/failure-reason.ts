import {
  type FailureReason,
  failureReasonName,
  failureReasonNumbers,
} from '../../ledger/failure-reasons.ts'

/** Texts of the published failure reasons (ledger reference 8). */

/** Why a transaction failed: a code for programs, a sentence for people. */
export interface PublishedFailure {
  readonly code: number
  /** The name that nodes and the SDK publish. */
  readonly name: string
  /** A sentence without a capital letter and without a full stop. */
  readonly sentence: string
}

/** The reason with a number; `undefined` if no reason has the number. */
export function failureReason(number: number): PublishedFailure | undefined {
  const name = failureReasonName(number)
  const sentence = sentenceByNumber.get(number)
  return name === undefined || sentence === undefined ? undefined : { code: number, name, sentence }
}

/** The reason with which a transaction of the ledger failed. A node may report one that this program does not know, or none. */
export function failureOf(number: number): PublishedFailure {
  const known = number === 0 ? undefined : failureReason(number)
  const sentence = 'the node reports no reason that this program knows'
  return known ?? { code: number, name: 'Unknown', sentence }
}

const sentences: { readonly [R in FailureReason]: string } = {
  NONE: 'the transaction did not fail',
  CONFLICT_REJECTED: 'another transaction that spends the same output was accepted first',
  ORPHANED: 'an input does not exist in the ledger',
  INPUT_ALREADY_SPENT: 'an input was spent before',
  INPUT_CREATION_AFTER_TX_CREATION: 'an input was created after the transaction',
  UNLOCK_SIGNATURE_INVALID: 'a signature is invalid, or is not by the key that owns the input',
  CHAIN_ADDRESS_UNLOCK_INVALID:
    'the unlock of an input owned by an account, an anchor or an NFT does not refer to the input of that chain',
  DIRECT_UNLOCKABLE_ADDRESS_UNLOCK_INVALID:
    'an input owned by a key has neither a signature nor a reference to the input that the key signed',
  MULTI_ADDRESS_UNLOCK_INVALID:
    'an input of a multi address has neither a multi unlock nor a reference to the input that has it',
  COMMITMENT_INPUT_REFERENCE_INVALID: 'the commitment input refers to an unknown commitment',
  BIC_INPUT_REFERENCE_INVALID:
    'a credit input refers to an account without credits in the slot of the commitment input',
  REWARD_INPUT_REFERENCE_INVALID:
    'a reward input refers to an input that is neither a delegation nor a staking account',
  STAKING_REWARD_CALCULATION_FAILURE: 'the reward of a staking account exceeds 64 bits',
  DELEGATION_REWARD_CALCULATION_FAILURE: 'the reward of a delegation exceeds 64 bits',
  INPUT_OUTPUT_BASE_TOKEN_MISMATCH: 'inputs and outputs hold different amounts of base tokens',
  MANA_OVERFLOW: 'the mana of inputs or outputs exceeds 64 bits',
  INPUT_OUTPUT_MANA_MISMATCH: 'outputs and allotments hold more mana than the inputs',
  MANA_DECAY_CREATION_INDEX_EXCEEDS_TARGET_INDEX: 'an input was created after the transaction',
  NATIVE_TOKEN_SUM_UNBALANCED:
    'outputs hold native tokens without inputs, or the transaction burns native tokens without permission',
  SIMPLE_TOKEN_SCHEME_MINTED_MELTED_TOKEN_DECREASE:
    'the minted or melted tokens of a foundry decrease',
  SIMPLE_TOKEN_SCHEME_MINTING_INVALID:
    'the minted tokens of a foundry do not match the native tokens of inputs and outputs',
  SIMPLE_TOKEN_SCHEME_MELTING_INVALID:
    'the melted tokens of a foundry do not match the native tokens of inputs and outputs',
  SIMPLE_TOKEN_SCHEME_MAXIMUM_SUPPLY_CHANGED: 'the maximum supply of a foundry changes',
  SIMPLE_TOKEN_SCHEME_GENESIS_INVALID:
    'a new foundry has melted tokens, or its minted tokens do not match the native tokens of the outputs',
  MULTI_ADDRESS_LENGTH_UNLOCK_LENGTH_MISMATCH:
    'a multi unlock has more or fewer unlocks than the address has members',
  MULTI_ADDRESS_UNLOCK_THRESHOLD_NOT_REACHED: 'too few members of a multi address unlock it',
  SENDER_FEATURE_NOT_UNLOCKED: 'a sender does not unlock any input',
  ISSUER_FEATURE_NOT_UNLOCKED: 'the issuer of a new chain does not unlock any input',
  STAKING_REWARD_INPUT_MISSING: 'an ended stake is removed without claiming its rewards',
  STAKING_COMMITMENT_INPUT_MISSING: 'a staking account needs a commitment input',
  STAKING_REWARD_CLAIMING_INVALID: 'rewards are claimed for a stake that is not removed',
  STAKING_FEATURE_REMOVED_BEFORE_UNBONDING: 'a stake is removed before its end epoch is over',
  STAKING_FEATURE_MODIFIED_BEFORE_UNBONDING: 'a stake changes before its end epoch is over',
  STAKING_START_EPOCH_INVALID: 'a new stake does not start in the epoch of the transaction',
  STAKING_END_EPOCH_TOO_EARLY: 'a stake ends before the unbonding period is over',
  BLOCK_ISSUER_COMMITMENT_INPUT_MISSING: 'a block issuer account needs a commitment input',
  BLOCK_ISSUANCE_CREDIT_INPUT_MISSING: 'a block issuer account needs a credit input',
  BLOCK_ISSUER_NOT_EXPIRED: 'a block issuer feature is removed before it expires',
  BLOCK_ISSUER_EXPIRY_TOO_EARLY: 'a block issuer feature expires too early',
  MANA_MOVED_OFF_BLOCK_ISSUER_ACCOUNT: 'mana is moved off a block issuer account',
  ACCOUNT_LOCKED: 'the block issuance credits of the account are negative',
  TIMELOCK_COMMITMENT_INPUT_MISSING: 'an input with a timelock needs a commitment input',
  TIMELOCK_NOT_EXPIRED: 'an input is still locked',
  EXPIRATION_COMMITMENT_INPUT_MISSING: 'an input with an expiration needs a commitment input',
  EXPIRATION_NOT_UNLOCKABLE:
    'an input is too close to its expiration for either address to spend it',
  RETURN_AMOUNT_NOT_FUL_FILLED: 'a storage deposit is not returned',
  NEW_CHAIN_OUTPUT_HAS_NON_ZEROED_ID: 'an output continues a chain that is not among the inputs',
  CHAIN_OUTPUT_IMMUTABLE_FEATURES_CHANGED: 'immutable features change',
  IMPLICIT_ACCOUNT_DESTRUCTION_DISALLOWED: 'an implicit account does not become an account',
  MULTIPLE_IMPLICIT_ACCOUNT_CREATION_ADDRESSES: 'more than one implicit account is spent',
  ACCOUNT_INVALID_FOUNDRY_COUNTER:
    'the foundry counter of an account does not increase by the number of its new foundries',
  ANCHOR_INVALID_STATE_TRANSITION:
    'a state transition of an anchor changes a part that only its governor may change',
  ANCHOR_INVALID_GOVERNANCE_TRANSITION:
    'a governance transition of an anchor changes a part that only its state controller may change',
  FOUNDRY_TRANSITION_WITHOUT_ACCOUNT:
    'a foundry is created without its account among both inputs and outputs',
  FOUNDRY_SERIAL_INVALID:
    'the serial number of a new foundry is not the next serial number of its account',
  DELEGATION_COMMITMENT_INPUT_MISSING: 'a delegation needs a commitment input',
  DELEGATION_REWARD_INPUT_MISSING: 'a delegation ends without claiming its rewards',
  DELEGATION_REWARDS_CLAIMING_INVALID: 'rewards are claimed for a delegation that does not end',
  DELEGATION_OUTPUT_TRANSITIONED_TWICE: 'a delegation changes a second time',
  DELEGATION_MODIFIED: 'a delegation changes its amount, its validator or its start',
  DELEGATION_START_EPOCH_INVALID: 'a new delegation starts in a wrong epoch',
  DELEGATION_AMOUNT_MISMATCH:
    'the delegated amount of a new delegation differs from its base tokens',
  DELEGATION_END_EPOCH_NOT_ZERO: 'a new delegation has an end epoch',
  DELEGATION_END_EPOCH_INVALID: 'a delegation ends in a wrong epoch',
  CAPABILITIES_NATIVE_TOKEN_BURNING_NOT_ALLOWED: 'the transaction may not burn native tokens',
  CAPABILITIES_MANA_BURNING_NOT_ALLOWED: 'the transaction may not burn mana',
  CAPABILITIES_ACCOUNT_DESTRUCTION_NOT_ALLOWED: 'the transaction may not destroy accounts',
  CAPABILITIES_ANCHOR_DESTRUCTION_NOT_ALLOWED: 'the transaction may not destroy anchors',
  CAPABILITIES_FOUNDRY_DESTRUCTION_NOT_ALLOWED: 'the transaction may not destroy foundries',
  CAPABILITIES_NFT_DESTRUCTION_NOT_ALLOWED: 'the transaction may not destroy NFTs',
  SEMANTIC_VALIDATION_FAILED:
    'native tokens exceed 256 bits, the state index of an anchor skips a number, or the counters of a foundry change without tokens',
}

const sentenceByNumber = new Map<number, string>(
  Object.entries(failureReasonNumbers).map(([code, number]) => [
    number,
    sentences[code as FailureReason],
  ]),
)
