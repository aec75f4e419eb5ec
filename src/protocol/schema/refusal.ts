/**
 * The rules of form (codec reference 18) with their messages: why bytes or JSON are not a value of a protocol type. A message
 * follows the path: "body.strongParents must be 1 to 8 …".
 */
export const sentences = {
  JSON_MISSING: 'is missing',
  JSON_TYPE: 'has the wrong JSON type',
  JSON_NUMBER: 'must be an integer within its range, written as a number',
  JSON_U64: 'must be a decimal number from 0 to 18446744073709551615, written as a string',
  JSON_I64:
    'must be a decimal number from -9223372036854775808 to 9223372036854775807, written as a string',
  JSON_U256:
    'must be a hexadecimal number of at most 256 bits, as 0x and digits without leading zeros',
  JSON_HEX: 'must be 0x and an even number of hexadecimal digits',
  JSON_HEX_LENGTH: 'has the wrong number of bytes',
  BIN_EOF: 'ends before the value is complete',
  BIN_TRAILING: 'is followed by unexpected bytes',
  BIN_PAYLOAD_LENGTH: 'has a length that differs from the payload that follows',
  BIN_TEXT: 'is not UTF-8',
  TYPE_BLOCK_BODY: 'has an unknown type',
  TYPE_PAYLOAD: 'has an unknown type',
  TYPE_SIGNATURE: 'has an unknown type',
  TYPE_CONTEXT_INPUT: 'has an unknown type',
  TYPE_INPUT: 'has an unknown type',
  TYPE_OUTPUT: 'has an unknown type',
  TYPE_UNLOCK_CONDITION: 'has an unknown type',
  TYPE_FEATURE: 'has an unknown type',
  TYPE_ADDRESS: 'has an unknown type',
  TYPE_TOKEN_SCHEME: 'has an unknown type',
  TYPE_BLOCK_ISSUER_KEY: 'has an unknown type',
  TYPE_UNLOCK: 'has an unknown type',
  TYPE_PROOF_NODE: 'has an unknown type',
  TYPE_UNEXPECTED: 'has a type that is not expected here',
  NUMBERING_MIXED:
    'has a type code of one numbering while another part of the transaction has a code of the other numbering (context inputs 0, 1, 2 with NFT unlock 4; or 1, 2, 3 with NFT unlock 3)',
  BLOCK_SIZE: 'is larger than 32768 bytes',
  HEADER_VERSION: 'is a protocol version whose parameters are not known',
  HEADER_NETWORK_ID: 'is the id of another network',
  HEADER_COMMITMENT_TOO_RECENT:
    'refers to a slot that cannot be committed yet in the slot of the block',
  HEADER_COMMITMENT_TOO_OLD: 'refers to a slot too old for the slot of the block',
  PARENTS_STRONG_COUNT: 'must be 1 to 8 parents, in a validation block 1 to 50',
  PARENTS_WEAK_COUNT: 'must be at most 8 parents, in a validation block at most 50',
  PARENTS_SHALLOW_LIKE_COUNT: 'must be at most 8 parents, in a validation block at most 50',
  PARENTS_ORDER: 'must be sorted by bytes, without duplicates',
  PARENTS_WEAK_DISJOINT: 'is also a strong or a shallow like parent',
  VALIDATION_HIGHEST_VERSION: 'is below the protocol version of the block',
  VALIDATION_PARAMS_HASH: 'is not the hash of the protocol parameters in force',
  MANA_BURNED_DIFFERS: 'differs from maxBurnedMana of the block body',
  TAGGED_TAG_LENGTH: 'must be at most 64 bytes',
  TAGGED_DATA_LENGTH: 'must be at most 8192 bytes',
  TX_NETWORK_ID: 'is the id of another network',
  BLOCK_TX_CREATION_SLOT: 'is later than the slot of the block',
  TX_CONTEXT_INPUTS_COUNT: 'must be at most 128',
  TX_CONTEXT_INPUTS_ORDER:
    'must be sorted, without duplicates and with at most one commitment input',
  TX_COMMITMENT_REQUIRED: 'requires a commitment input in the transaction',
  TX_REWARD_INDEX: 'is not the index of an input of the transaction',
  TX_REWARD_INDEX_BOUND: 'must be at most 128',
  BLOCK_TX_COMMITMENT_RANGE: 'refers to a slot too recent or too old for the slot of the block',
  BLOCK_TX_COMMITMENT_NEWER: 'is newer than the commitment of the block',
  TX_INPUTS_COUNT: 'must be 1 to 128',
  TRANSACTION_ID_WITHOUT_SLOT:
    'has only the 32-byte hash, without the creation slot of the transaction: an id has 36 bytes, the hash and then the slot as 4 bytes, lowest first',
  TX_INPUTS_UNIQUE: 'is spent twice',
  TX_INPUTS_INDEX: 'must be at most 127',
  TX_ALLOTMENTS_COUNT: 'must be at most 128',
  TX_ALLOTMENTS_ORDER: 'must be sorted by account id, without duplicates',
  TX_ALLOTMENTS_ZERO: 'must be above 0',
  TX_ALLOTMENTS_SUM: 'sum up to more than the maximum amount of mana',
  TX_CAPABILITIES_TRAILING_ZERO: 'must not end with a zero byte',
  TX_CAPABILITIES_UNKNOWN_BIT: 'has an undefined bit',
  TX_CAPABILITIES_LENGTH: 'must be at most 1 byte',
  TX_PAYLOAD_KIND: 'is a payload that a transaction cannot carry (only tagged data, 0)',
  TX_OUTPUTS_COUNT: 'must be 1 to 128',
  TX_STORAGE_DEPOSIT: 'is below the minimum amount for the size of the output',
  TX_AMOUNT_SUM: 'sum up to more than the token supply',
  TX_RETURN_EXCEEDS_AMOUNT: 'is more than the amount of the output',
  TX_RETURN_BELOW_MINIMUM: 'is below the minimum amount of the output that returns it',
  TX_MANA_SUM: 'sum up to more than the maximum amount of mana',
  TX_CHAIN_UNIQUE: 'has the same chain id as another output',
  TX_COMMITMENT_FOR_STAKING: 'requires a commitment input, because it has a staking feature',
  TX_COMMITMENT_FOR_BLOCK_ISSUER:
    'requires a commitment input, because it has a block issuer feature',
  TX_COMMITMENT_FOR_DELEGATION: 'requires a commitment input, because it is a delegation output',
  UNLOCKS_COUNT: 'must be 1 to 128',
  UNLOCKS_MISMATCH: 'must be as many as the inputs',
  UNLOCK_SIGNATURE_UNIQUE: 'repeats a signature; use a reference unlock',
  UNLOCK_REFERENCE: 'must point to an earlier signature unlock',
  UNLOCK_REFERENCE_BOUND: 'must be at most 126',
  UNLOCK_CHAIN_REFERENCE: 'must point to an earlier unlock',
  UNLOCK_MULTI_COUNT: 'must be 2 to 10',
  UNLOCK_MULTI_NESTED: 'must not be a multi unlock inside another',
  UNLOCK_MULTI_INSIDE_MULTI: 'is inside a multi unlock and must not point to another multi unlock',
  UNLOCK_MULTI_UNIQUE: 'repeats a multi unlock',
  UNLOCK_EMPTY_OUTSIDE_MULTI: 'is an empty unlock outside a multi unlock, or points to one',
  UNLOCK_REFERENCE_TO_MULTI: 'must not point to a multi unlock',
  UNLOCK_SIGNATURE_IN_TWO_MULTIS: 'repeats a signature of another multi unlock',
  UNLOCK_SIGNATURE_TWICE_IN_MULTI: 'repeats a signature of the same multi unlock',
  OUTPUT_UNLOCK_CONDITIONS_ALLOWED: 'is an unlock condition that this output cannot have',
  OUTPUT_UNLOCK_CONDITIONS_REQUIRED: 'lack an unlock condition that this output must have',
  OUTPUT_UNLOCK_CONDITIONS_ORDER: 'must be sorted by type, at most one of each type',
  OUTPUT_FEATURES_ALLOWED: 'is a feature that this output cannot have',
  OUTPUT_FEATURES_ORDER: 'must be sorted by type, at most one of each type',
  OUTPUT_IMMUTABLE_FEATURES_ALLOWED: 'is a feature that this output cannot have as immutable',
  OUTPUT_IMMUTABLE_FEATURES_ORDER: 'must be sorted by type, at most one of each type',
  UC_TIMELOCK_ZERO: 'must be above 0',
  UC_EXPIRATION_ZERO: 'must be above 0',
  UC_RETURN_ADDRESS: 'must not be an implicit account creation address',
  UC_IMMUTABLE_ACCOUNT_KIND: 'must be an account address',
  OUTPUT_IMPLICIT_ADDRESS:
    'is an implicit account creation address, which only a basic output without further conditions can have',
  OUTPUT_ACCOUNT_NEW_STATE: 'must be 0 in a new account',
  OUTPUT_ACCOUNT_CYCLIC: 'is the address of the account itself',
  OUTPUT_ACCOUNT_STAKED_AMOUNT: 'is more than the amount of the output',
  OUTPUT_ACCOUNT_STAKING_NEEDS_BLOCK_ISSUER:
    'have a staking feature without a block issuer feature',
  OUTPUT_ANCHOR_NEW_STATE: 'must be 0 in a new anchor',
  OUTPUT_ANCHOR_CYCLIC: 'is the address of the anchor itself',
  OUTPUT_NFT_CYCLIC: 'is the address of the NFT itself',
  OUTPUT_DELEGATION_VALIDATOR_KIND: 'must be an account address',
  OUTPUT_DELEGATION_VALIDATOR_ZERO: 'must not be zero',
  OUTPUT_FOUNDRY_SERIAL_ZERO: 'must be above 0',
  OUTPUT_FOUNDRY_TOKEN_ID: 'is the token of another foundry',
  TOKEN_SCHEME_SUPPLY:
    'must have a maximum above 0, at most as many melted as minted tokens, and a circulating supply of at most the maximum',
  OUTPUT_RESTRICTED_NATIVE_TOKENS: 'does not allow native tokens',
  OUTPUT_RESTRICTED_MANA: 'does not allow mana',
  OUTPUT_RESTRICTED_TIMELOCK: 'does not allow a timelock',
  OUTPUT_RESTRICTED_EXPIRATION: 'does not allow an expiration',
  OUTPUT_RESTRICTED_STORAGE_DEPOSIT_RETURN: 'does not allow a storage deposit return',
  OUTPUT_RESTRICTED_ACCOUNT: 'does not allow account outputs',
  OUTPUT_RESTRICTED_ANCHOR: 'does not allow anchor outputs',
  OUTPUT_RESTRICTED_NFT: 'does not allow NFT outputs',
  OUTPUT_RESTRICTED_DELEGATION: 'does not allow delegation outputs',
  FEATURE_METADATA_COUNT: 'must have 1 to 255 entries',
  FEATURE_METADATA_KEY_LENGTH: 'has a key that is not 1 to 255 bytes long',
  FEATURE_METADATA_KEY_CHARS: 'has a key with other characters than printable ASCII without space',
  FEATURE_METADATA_VALUE_LENGTH: 'has a value longer than 65535 bytes',
  FEATURE_METADATA_ORDER: 'must be sorted by key, without duplicates',
  FEATURE_METADATA_SIZE: 'is larger than 8192 bytes',
  FEATURE_TAG_LENGTH: 'must be 1 to 64 bytes',
  FEATURE_NATIVE_TOKEN_ZERO: 'must be above 0',
  FEATURE_ISSUER_KEYS_COUNT: 'must be 1 to 128',
  FEATURE_ISSUER_KEYS_ORDER: 'must be sorted by bytes, without duplicates',
  ADDRESS_MULTI_COUNT: 'must be 2 to 10',
  ADDRESS_MULTI_ORDER: 'must be sorted by the bytes of the addresses, without duplicates',
  ADDRESS_MULTI_WEIGHT: 'must be above 0',
  ADDRESS_MULTI_THRESHOLD: 'must be 1 to the sum of the weights',
  ADDRESS_MULTI_NESTED: 'is an address that cannot be a member of a multi address',
  ADDRESS_RESTRICTED_NESTED: 'is an address that cannot be restricted',
  ADDRESS_CAPABILITIES_TRAILING_ZERO: 'must not end with a zero byte',
  ADDRESS_CAPABILITIES_UNKNOWN_BIT: 'has an undefined bit',
  ADDRESS_CAPABILITIES_LENGTH: 'must be at most 2 bytes',
  PARAMETER_ZERO: 'must be above 0',
  PROOF_DEPTH: 'is a deeper tree than 128 outputs can have',
  LIST_COUNT: 'has too many or too few elements',
  TEXT_LENGTH: 'has too many bytes',
} as const

/** The code of a rule of form. */
export type RefusalCode = keyof typeof sentences

/** The refusal of bytes or JSON: the broken rule, and the part that breaks it. */
export interface Refusal {
  readonly code: RefusalCode
  /** Members and list indices from the outermost value inwards, joined by dots; empty for the value itself. */
  readonly path: string
  /** Position in the bytes where the broken part begins; only for bytes. */
  readonly offset?: number
}

/**
 * The private exception of this folder. It does not extend Error: refused values are common, and recording a stack would cost
 * more than decoding. `decode` and `parse` convert it to a Refusal.
 */
export class Malformed {
  readonly code: RefusalCode
  readonly offset: number | undefined
  readonly path: (string | number)[] = []

  constructor(code: RefusalCode, offset?: number, ...path: (string | number)[]) {
    this.code = code
    this.offset = offset
    this.path.push(...path)
  }
}

/** Adds the member or index to the path of a refusal, and returns the exception for rethrowing. */
export function within(thrown: unknown, key: string | number): unknown {
  if (thrown instanceof Malformed) thrown.path.unshift(key)
  return thrown
}
